package session

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// What this package and the one below it export names no type of the engine's, but for Location, of
// which nothing can be seen.
func TestExportedNames(t *testing.T) {
	allowed := []string{
		"github.com/apache/arrow-go/", "google.golang.org/grpc", "github.com/seaweedfs/seaweed-lance/session",
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	below, err := filepath.Glob("cluster/*.go")
	if err != nil || len(files) == 0 || len(below) == 0 {
		t.Fatalf("%d and %d files, error %v", len(files), len(below), err)
	}
	seen := 0
	for _, name := range append(files, below...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		imports := make(map[string]string)
		for _, i := range f.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			imports[filepath.Base(p)] = p
			if i.Name != nil {
				imports[i.Name.Name] = p
			}
		}
		for _, what := range exported(f) {
			ast.Inspect(what, func(n ast.Node) bool {
				x, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				seen++
				from := imports[x.X.(*ast.Ident).Name]
				good := !strings.Contains(from, ".") && from != ""
				for _, a := range allowed {
					good = good || strings.HasPrefix(from, a)
				}
				if !good {
					t.Errorf("%s exports %s.%s (%s)", name, x.X, x.Sel, from)
				}
				return false
			})
		}
	}
	if seen == 0 {
		t.Error("nothing was looked at")
	}
}

// exported are the signatures and fields that others see.
func exported(f *ast.File) (out []ast.Node) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(strings.TrimPrefix(typeName(d.Recv.List[0].Type), "*"))) {
				out = append(out, d.Type)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				x, ok := s.(*ast.TypeSpec)
				if !ok || !x.Name.IsExported() || x.Name.Name == "Location" {
					continue
				}
				fields, ok := x.Type.(*ast.StructType)
				if !ok {
					out = append(out, x.Type)
					continue
				}
				for _, field := range fields.Fields.List {
					for _, n := range field.Names {
						if n.IsExported() {
							out = append(out, field.Type)
						}
					}
					if len(field.Names) == 0 && ast.IsExported(typeName(field.Type)) {
						out = append(out, field.Type)
					}
				}
			}
		}
	}
	return out
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
