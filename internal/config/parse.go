package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/qgen-dev/qgen/internal/source"
)

// Name is the file name of a configuration.
const Name = "qgen.yaml"

// Version is the version of the file's format.
const Version = "1"

// Parse reads one qgen.yaml. It always returns a Config: entries of queues
// that had to be complained about are left out of it, so that what follows
// does not complain about the consequences.
func Parse(f *source.File, errs *source.ErrorList) *Config {
	p := &parser{
		file:  f,
		errs:  errs,
		lines: lineStarts(f.Data),
		// Without aliases no node is seen twice, and a node has at least one
		// byte; what is far above that comes from aliases of aliases.
		budget: 10*len(f.Data) + 1000,
		active: map[*yaml.Node]bool{},
	}
	c := &Config{File: f}
	if root := p.document(); root != nil {
		p.mapping(root, theFile, configKeys(p, c))
	}
	return c
}

// parser walks the nodes of one file.
type parser struct {
	file   *source.File
	errs   *source.ErrorList
	lines  []int // offset of the first byte of each line as YAML counts lines
	budget int   // values that may still be read
	active map[*yaml.Node]bool
	later  []String // keys of the present queue that are known and not carried out
	stages []entry  // of the present entry
}

// document returns the root of the only document of the file, nil after a
// complaint.
func (p *parser) document() *yaml.Node {
	if !p.readable() {
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(p.file.Data))
	doc, err := decode(dec)
	if errors.Is(err, io.EOF) {
		p.errs.Errorf(p.file.Pos(0, 0), "the file is empty").
			WithHint(`Start with version: "1" and a list of queues.`)
		return nil
	}
	if err != nil {
		p.syntaxError(err)
		return nil
	}
	switch second, err := decode(dec); {
	case err == nil:
		p.errs.Errorf(p.at(second), "a second document begins here").
			WithHint("The file holds one document. Remove the line --- and what follows it.")
		return nil
	case !errors.Is(err, io.EOF):
		p.syntaxError(err)
		return nil
	}
	if len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

// decode reads the next document. A panic of the YAML reader is its answer to
// input that it cannot read, and nothing else.
func decode(dec *yaml.Decoder) (doc *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML reader gave up: %v", r)
		}
	}()
	doc = new(yaml.Node)
	return doc, dec.Decode(doc)
}

// readable reports whether the file is text that YAML allows; otherwise it
// complains about the first character that is not.
func (p *parser) readable() bool {
	for i := 0; i < len(p.file.Data); {
		r, size := utf8.DecodeRune(p.file.Data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			p.errs.Errorf(p.file.Pos(i, 1), "the file is not UTF-8 text").
				WithHint("Save it as UTF-8.")
			return false
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r >= 0x7F && r < 0xA0 && r != 0x85, r == 0xFFFE, r == 0xFFFF:
			p.errs.Errorf(p.file.Pos(i, size), "the character %U is not allowed in YAML", r).
				WithHint(`Inside double quotes it can be written as "\u%04X".`, r)
			return false
		}
		i += size
	}
	return true
}

var (
	errorLine     = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// syntaxError places an error of the YAML reader, which knows the line at best.
func (p *parser) syntaxError(err error) {
	msg := err.Error()
	line := 1
	if m := errorLine.FindStringSubmatch(msg); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
		msg = msg[len(m[0]):]
	}
	if m := unknownAnchor.FindStringSubmatch(msg); m != nil {
		at := max(0, bytes.Index(p.file.Data, []byte("*"+m[1])))
		p.errs.Errorf(p.file.Pos(at, len(m[1])+1), "no anchor &%s stands above this alias", m[1]).
			WithHint("Write &%s before the value that is meant, further up in the file.", m[1])
		return
	}
	pos := p.lineText(line)
	e := p.errs.Errorf(pos, "not valid YAML: %s", msg)
	before := p.file.Data[:pos.Offset]
	if bytes.ContainsRune(before[bytes.LastIndexByte(before, '\n')+1:], '\t') {
		e.WithHint("YAML is indented with spaces; there is a tab before this text.")
	}
}
