package emit

// This file writes doc.go, the package comment.

import "github.com/qgen-dev/qgen/internal/code"

// docFile writes doc.go.
func (w *writer) docFile() *code.File {
	f := w.newFile()
	f.Doc = comment(w.Doc)
	return f
}
