// Package testdata holds tables that real Lance wrote; see the README beside it.
// The go command's patterns pass over directories of this name, so the package
// is only ever built where somebody imports it.
package testdata

import (
	"embed"
	"io/fs"
)

// Names of a table begin with an underscore, which embedding leaves out
// without "all:".
//
//go:embed all:many_appends
var files embed.FS

// ManyAppends is a table of one small fragment and one version for each of its
// appends.
func ManyAppends() fs.FS {
	sub, err := fs.Sub(files, "many_appends")
	if err != nil {
		panic(err) // only for a name that is no path
	}
	return sub
}
