package oracle

// Release is a version of pylance that tests know how to install.
type Release string

// Releases that wrote, or write, tables in the wild; FORMAT of each differs.
const (
	// Newest judges every table, whoever wrote it.
	Newest Release = "14.0.2"
	// V10 writes 2.1 and reads the inline transaction at its older position.
	V10 Release = "10.0.0"
	// V7 writes 2.1.
	V7 Release = "7.1.0"
	// V4 writes 2.0.
	V4 Release = "4.0.2"
	// V1 writes the older manifest names, as V0 does, and 2.0.
	V1 Release = "1.0.4"
	// V0 writes the older manifest names and transactions as files only.
	V0 Release = "0.39.0"
)

// packages are the pinned packages of a release. Lance's own requirements are
// ranges; what they resolve to decides the bytes of fixtures.
func (r Release) packages() []string {
	namespace := map[Release]string{Newest: "0.13.0", V10: "0.8.6", V7: "0.7.7", V4: "0.6.1", V1: "0.13.0", V0: "0.13.0"}[r]
	return []string{
		"pylance==" + string(r),
		"pyarrow==26.0.1",
		"numpy==2.4.6",
		"lance-namespace==" + namespace,
		"lance-namespace-urllib3-client==" + namespace,
	}
}

// Major is the release's first number.
func (r Release) Major() int {
	n := 0
	for _, c := range r {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + int(c-'0')
	}
	return n
}
