package generate

// This file finds and reads the files that the key schema names, with the
// meaning that sqlc gives the same key.

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/source"
)

// ddlFiles returns the files that the patterns of schema name, in their order,
// each once. A pattern that names none is complained about.
func (p *Project) ddlFiles(patterns []config.String, read func(name string) (*source.File, error), errs *source.ErrorList) []*source.File {
	var files []*source.File
	seen := map[string]bool{}
	for _, pattern := range patterns {
		names, err := p.expand(pattern.Value)
		if err != nil {
			errs.Errorf(pattern.Pos, "%s %s", pattern.Value, err).
				WithHint("Paths in this file start from its folder. Name a file, a folder with .sql files, or a glob such as db/*.sql.")
			continue
		}
		for _, name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			file, err := read(name)
			if err != nil {
				errs.Errorf(pattern.Pos, "%s cannot be read: %s", name, reason(err))
				continue
			}
			if at := notUTF8(file.Data); at >= 0 {
				errs.Errorf(file.Pos(at, 1), "the file is not UTF-8 text").
					WithHint("Names and values go from it into Go and SQL, which are. Save it as UTF-8; iconv converts a dump.")
				continue
			}
			files = append(files, file)
		}
	}
	return files
}

// notUTF8 returns the offset of the first byte that belongs to no character,
// -1 when there is none.
func notUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// readDDL reads one file, without its down migration.
func (p *Project) readDDL(name string) (*source.File, error) {
	text, err := os.ReadFile(p.path(name))
	if err != nil {
		return nil, err
	}
	return source.NewFile(name, blankDown(fromUTF16(text))), nil
}

// fromUTF16 returns as UTF-8 a text that begins with the mark of UTF-16, which is
// what the tools of SQL Server save; every other as it is.
func fromUTF16(text []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return text
	}
	units := make([]uint16, 0, len(text)/2)
	for i := 2; i+1 < len(text); i += 2 {
		units = append(units, order.Uint16(text[i:]))
	}
	return []byte(string(utf16.Decode(units)))
}

// expand returns the names of the files that a pattern means, sorted, relative
// to the project and with slashes: a file, the .sql files of a folder, or what
// a glob matches of both. Down migrations are left out. The error says in a
// clause why there are none.
func (p *Project) expand(pattern string) ([]string, error) {
	// A glob may not start above the folder that it is applied to, and that
	// folder's own name may hold characters that mean something in globs.
	rest := path.Clean(filepath.ToSlash(pattern))
	base := ""
	switch {
	case path.IsAbs(rest):
		base, rest = "/", strings.TrimPrefix(rest, "/")
	default:
		for rest == ".." || strings.HasPrefix(rest, "../") {
			base, rest = path.Join(base, ".."), strings.TrimPrefix(strings.TrimPrefix(rest, ".."), "/")
		}
	}
	if rest == "" {
		rest = "."
	}
	root := os.DirFS(p.path(base))
	matches, err := fs.Glob(root, rest)
	if err != nil {
		return nil, errors.New("is not a glob that can be read")
	}
	if len(matches) == 0 {
		if strings.ContainsAny(rest, `*?[\`) {
			return nil, errors.New("matches no file")
		}
		return nil, errors.New("does not exist")
	}
	var names []string
	down := 0
	hidden := strings.HasPrefix(path.Base(rest), ".") // asked for by name
	add := func(name string) {
		if strings.HasPrefix(path.Base(name), ".") && !hidden {
			return
		}
		if strings.HasSuffix(name, ".down.sql") { // golang-migrate
			down++
			return
		}
		names = append(names, path.Join(base, name))
	}
	for _, match := range matches {
		info, err := fs.Stat(root, match)
		if err != nil {
			return nil, fmt.Errorf("cannot be read: %s", reason(err))
		}
		if !info.IsDir() {
			add(match)
			continue
		}
		entries, err := fs.ReadDir(root, match)
		if err != nil {
			return nil, fmt.Errorf("cannot be read: %s", reason(err))
		}
		for _, e := range entries {
			if !e.IsDir() && strings.HasSuffix(e.Name(), ".sql") {
				add(path.Join(match, e.Name()))
			}
		}
	}
	switch {
	case len(names) == 0 && down > 0:
		return nil, errors.New("holds down migrations only")
	case len(names) == 0:
		return nil, errors.New("holds no .sql file")
	}
	slices.Sort(names)
	return names, nil
}

// downMark and upMark are the lines with which migration tools begin the
// statements that undo a migration, and those that carry it out.
var (
	downMark = regexp.MustCompile(`(?i)^\s*(--\s*\+goose\s+down\b|--\s*\+migrate\s+down\b|--\s*migrate:down\b|---- create above / drop below ----)`)
	upMark   = regexp.MustCompile(`(?i)^\s*(--\s*\+goose\s+up\b|--\s*\+migrate\s+up\b|--\s*migrate:up\b)`)
)

// blankDown replaces the statements that undo a migration by spaces, so that
// whatever else stands in the file keeps its place. It knows the marks of
// goose, sql-migrate, dbmate and tern.
func blankDown(text []byte) []byte {
	text = bytes.Clone(text)
	down := false
	for start := 0; start < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		line := text[start:end]
		switch {
		case downMark.Match(line):
			down = true
		case upMark.Match(line):
			down = false
		}
		if down {
			for i, b := range line {
				if b != '\n' && b != '\r' {
					line[i] = ' '
				}
			}
		}
		start = end
	}
	return text
}

// reason returns what went wrong with a file without repeating its name, which
// may hold the path of this machine.
func reason(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}
