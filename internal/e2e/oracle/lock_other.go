//go:build !unix

package oracle

// lock does nothing here: environments are made by one process at a time.
func lock(string) (func(), error) {
	return func() {}, nil
}
