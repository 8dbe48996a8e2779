// Package source says where things stand: input files, positions in them, and
// complaints that point at a position. It knows nothing of SQL or YAML.
package source

import (
	"cmp"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// File is one input file, read whole.
type File struct {
	Path string // as the user wrote it, with forward slashes; shown in messages
	Data []byte

	lines []int // offset of the first byte of each line, filled on first use
}

// NewFile returns a File over text.
func NewFile(path string, text []byte) *File {
	return &File{Path: path, Data: text}
}

// Pos returns the position of length bytes at offset, pulled inside the file
// when it would stand outside.
func (f *File) Pos(offset, length int) Pos {
	offset = max(0, min(offset, len(f.Data)))
	length = max(0, min(length, len(f.Data)-offset))
	return Pos{File: f, Offset: offset, Len: length}
}

// line returns the zero-based line that holds offset.
func (f *File) line(offset int) int {
	if f.lines == nil {
		f.lines = []int{0}
		for i, b := range f.Data {
			if b == '\n' {
				f.lines = append(f.lines, i+1)
			}
		}
	}
	return sort.Search(len(f.lines), func(i int) bool { return f.lines[i] > offset }) - 1
}

// lineText returns the text of a zero-based line without its line end.
func (f *File) lineText(line int) string {
	start := f.lines[line]
	end := len(f.Data)
	if line+1 < len(f.lines) {
		end = f.lines[line+1] - 1
	}
	return strings.TrimSuffix(string(f.Data[start:end]), "\r")
}

// Pos is a stretch of a file. The zero Pos belongs to no file.
type Pos struct {
	File   *File
	Offset int // bytes from the start of the file
	Len    int // bytes to underline; 0 marks a single place
}

// IsValid reports whether the position belongs to a file.
func (p Pos) IsValid() bool { return p.File != nil }

// Compare puts places in the order of their files' paths, and within a file as they stand;
// both are valid.
func (p Pos) Compare(q Pos) int {
	return cmp.Or(cmp.Compare(p.File.Path, q.File.Path), cmp.Compare(p.Offset, q.Offset))
}

// Line returns the line, counted from 1.
func (p Pos) Line() int {
	if p.File == nil {
		return 0
	}
	return p.File.line(p.Offset) + 1
}

// Column returns the column in characters, counted from 1.
func (p Pos) Column() int {
	if p.File == nil {
		return 0
	}
	line := p.File.line(p.Offset) // fills lines
	return utf8.RuneCount(p.File.Data[p.File.lines[line]:p.Offset]) + 1
}

// Text returns the bytes that the position covers.
func (p Pos) Text() string {
	if p.File == nil {
		return ""
	}
	return string(p.File.Data[p.Offset : p.Offset+p.Len])
}

// Sub returns the position of length bytes at offset within p.
func (p Pos) Sub(offset, length int) Pos {
	if p.File == nil {
		return p
	}
	return p.File.Pos(p.Offset+offset, length)
}

// String returns path:line:column.
func (p Pos) String() string {
	if p.File == nil {
		return "-"
	}
	return fmt.Sprintf("%s:%d:%d", p.File.Path, p.Line(), p.Column())
}
