package emit

// This file finds out which of the unexported parts of an emitted package are
// used, so that none is printed in vain.

import (
	"bytes"
	"go/scanner"
	"go/token"

	"github.com/dave/jennifer/jen"
)

// part is an unexported declaration that several emitted files may use.
type part struct {
	name string // by which the code refers to it
	file string // that holds it
	emit func(f *jen.File)
}

// parts lists what may be used, in the order in which it is printed.
func (w *writer) parts() []part {
	return []part{
		{"beginner", "db.go", w.beginnerType},
		{"row", "db.go", w.rowType},
		{"retry", "db.go", w.retryMethod},
		{"transact", "db.go", w.transactMethod},
		{"settle", "db.go", w.settleMethod},
		{"lost", "db.go", w.lostFunc},
		{"pause", "db.go", w.pauseFunc},
		{"query", "db.go", w.queryFunc},
		{"collect", "db.go", w.collectFunc},
		{"exec", "db.go", w.execFunc},
		{"statement", "db.go", w.statementFunc},
		{"rolledBack", "db.go", w.rolledBackFunc},
		{"unknown", "db.go", w.unknownFunc},
		{"hasState", "db.go", w.hasStateFunc},
		{"hasCode", "db.go", w.hasCodeFunc},
		{"hasText", "db.go", w.hasTextFunc},
		{"defaultWorker", "db.go", w.defaultWorkerFunc},

		{"scanJob", "job.go", w.scanJobFunc},
		{"scanEach", "job.go", w.scanEachFunc},
		{"scanKey", "job.go", w.scanKeyFunc},
		{"scanNewKey", "enqueue.go", w.scanNewKeyFunc},
		{"scanPeeked", "peek.go", w.scanPeekedFunc},
		{"scanCandidate", "claim.go", w.scanCandidateFunc},
		{"scanExtended", "extend.go", w.scanExtendedFunc},

		{"lowBound", "low.go", w.lowBoundType},
		{"newToken", "token.go", w.newTokenFunc},
		{"backoff", "fail.go", w.backoffFunc},
		{"errorText", "fail.go", w.errorTextFunc},

		{"column", "args.go", w.columnFunc},
		{"textArray", "args.go", w.textArrayFunc},
		{"jsonRows", "args.go", w.jsonRowsFunc},
		{"jsonText", "args.go", w.jsonTextFunc},
		{"hexText", "args.go", w.hexTextFunc},
		{"orNull", "args.go", w.orNullFunc},
		{"ifSet", "args.go", w.ifSetFunc},
		{"parseTime", "args.go", w.parseTimeFunc},
		{"wallClock", "args.go", w.wallClockFunc},
		{"compareNull", "args.go", w.compareNullFunc},
		{"compareBool", "args.go", w.compareBoolFunc},
	}
}

// addParts adds to files every part that they use, and what those use.
func (w *writer) addParts(files map[string]*jen.File) {
	used := map[string]bool{}
	for _, f := range files {
		w.addNames(used, f)
	}
	parts := w.parts()
	taken := make([]bool, len(parts))
	for grown := true; grown; {
		grown = false
		for i, p := range parts {
			if taken[i] || !used[p.name] {
				continue
			}
			taken[i], grown = true, true
			f := w.newFile()
			p.emit(f)
			w.addNames(used, f)
		}
	}
	for i, p := range parts {
		if !taken[i] {
			continue
		}
		if files[p.file] == nil {
			files[p.file] = w.newFile()
		}
		p.emit(files[p.file])
	}
}

// addNames adds the identifiers of a file to names.
func (w *writer) addNames(names map[string]bool, f *jen.File) {
	var text bytes.Buffer
	f.NoFormat = true // names do not need it, and mistakes are reported by render
	if err := f.Render(&text); err != nil {
		w.fail("%w", err)
	}
	f.NoFormat = false
	src := text.Bytes()
	set := token.NewFileSet()
	var lex scanner.Scanner
	lex.Init(set.AddFile("", set.Base(), len(src)), src, nil, 0)
	for {
		_, tok, lit := lex.Scan()
		if tok == token.EOF {
			return
		}
		if tok == token.IDENT {
			names[lit] = true
		}
	}
}
