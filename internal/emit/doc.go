package emit

// This file writes doc.go, the package comment.

import "github.com/dave/jennifer/jen"

// docFile writes doc.go.
func (w *writer) docFile() *jen.File {
	f := w.newFile()
	for _, line := range comment(w.Doc) {
		f.PackageComment(line)
	}
	return f
}
