package emit

// This file writes what is not Go: one file a statement, and the index advice.

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/plan"
)

// newSQL returns a file of SQL with the header of the package, and head below it.
func (w *writer) newSQL(head ...string) *bytes.Buffer {
	b := new(bytes.Buffer)
	writeComment(b, w.mark)
	writeComment(b, head...)
	return b
}

// sqlFile is the file of a statement: the head comment, and what is sent.
func (w *writer) sqlFile(s *plan.Statement) []byte {
	b := w.newSQL(s.Head...)
	b.WriteString(strings.TrimSpace(s.Text()) + "\n")
	return b.Bytes()
}

// indexFile is the index advice.
func (w *writer) indexFile() []byte {
	b := w.newSQL("Index advice; nothing runs these statements by itself.")
	writeComment(b, w.fillIn()...)
	for _, i := range w.Indexes {
		b.WriteString("\n")
		writeComment(b, i.Why)
		if i.Of != "" {
			writeComment(b, "The package "+i.Of+" advises the same: one serves both, so leave this out where that is made.")
		}
		if i.Have != "" {
			writeComment(b, "The index "+oneLine(i.Have)+" of the schema serves as well.")
			continue
		}
		b.WriteString(strings.TrimSuffix(strings.TrimSpace(i.DDL), ";") + ";\n")
		for _, text := range []string{i.Then, i.Rule} {
			if text != "" {
				writeComment(b, text)
			}
		}
	}
	return b.Bytes()
}

// offsetHead says what schema/offset.sql is for.
const offsetHead = "The table that keeps how far each group of consumers came. Run this before a program with the package."

// ddlFile creates a table beside that of the queue.
func (w *writer) ddlFile(head []string, statements ...string) []byte {
	b := w.newSQL(head...)
	for _, ddl := range statements {
		b.WriteString("\n" + strings.TrimSpace(ddl) + ";\n")
	}
	return b.Bytes()
}

// procedureFile creates the procedures that the package calls, nil when it calls
// none.
func (w *writer) procedureFile() []byte {
	statements := slices.DeleteFunc(w.Statements(), func(s *plan.Statement) bool { return s.Procedure == nil })
	if len(statements) == 0 {
		return nil
	}
	b := w.newSQL("The procedures that the package calls. Run this before a program with the package, as often as you like.")
	writeComment(b, w.fillIn()...)
	for _, s := range statements {
		b.WriteString("\n")
		writeComment(b, s.Head...)
		b.WriteString(strings.TrimSpace(s.Procedure.DDL) + "\n" + cmp.Or(s.Procedure.End, ";") + "\n")
	}
	return b.Bytes()
}

// fillIn says in the head of a file of DDL that it is a template.
func (w *writer) fillIn() []string {
	if w.Tables == nil {
		return nil
	}
	var marks []string
	for _, p := range w.Tables.Parts {
		marks = append(marks, p.Mark())
	}
	return []string{"A template: for each table write what its name has in the place of " + strings.Join(marks, ", ") + "."}
}

// writeComment writes lines behind the mark of a SQL comment.
func writeComment(b *bytes.Buffer, lines ...string) {
	for _, text := range lines {
		// A carriage return ends a comment in some databases.
		for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r", "\n"), "\n") {
			b.WriteString(strings.TrimRight("-- "+line, " ") + "\n")
		}
	}
}
