package config

// This file says where nodes of a YAML document stand. The YAML reader gives
// lines and columns of where a node begins, its anchor, tag and quotes
// included; complaints are to point at what the user means.

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/qgen-dev/qgen/internal/source"
)

// lineStarts returns the offset of each line as the YAML reader counts lines:
// it also breaks at a lone CR, NEL, LS and PS, and does not see a byte order
// mark.
func lineStarts(data []byte) []int {
	i := 0
	if bytes.HasPrefix(data, []byte("\uFEFF")) {
		i = len("\uFEFF")
	}
	starts := []int{i}
	for i < len(data) {
		if n := breakLen(data[i:]); n > 0 {
			i += n
			starts = append(starts, i)
			continue
		}
		_, size := utf8.DecodeRune(data[i:])
		i += size
	}
	return starts
}

// breakLen returns the length of the line break with which text begins, 0 when
// it begins with something else.
func breakLen(text []byte) int {
	for _, b := range []string{"\r\n", "\n", "\r", "\u0085", "\u2028", "\u2029"} {
		if bytes.HasPrefix(text, []byte(b)) {
			return len(b)
		}
	}
	return 0
}

// offset returns the offset of a line and a column, both counted from 1, the
// column in characters.
func (p *parser) offset(line, column int) int {
	if line < 1 {
		return 0
	}
	if line > len(p.lines) {
		return len(p.file.Data)
	}
	i := p.lines[line-1]
	for range column - 1 {
		if i >= len(p.file.Data) {
			break
		}
		_, size := utf8.DecodeRune(p.file.Data[i:])
		i += size
	}
	return i
}

// lineText returns the position of a line's text without its margins; of the
// last line with text when the line is behind it.
func (p *parser) lineText(line int) source.Pos {
	for line = min(line, len(p.lines)); line > 0; line-- {
		start, end := p.lines[line-1], len(p.file.Data)
		if line < len(p.lines) {
			end = p.lines[line]
		}
		text := string(p.file.Data[start:end])
		if trimmed := strings.TrimSpace(text); trimmed != "" {
			return p.file.Pos(start+strings.Index(text, trimmed), len(trimmed))
		}
	}
	return p.file.Pos(0, 0)
}

// at returns the position of a node for a complaint: the text of a scalar, the
// first key of a block mapping, the first character of anything else.
func (p *parser) at(n *yaml.Node) source.Pos {
	switch {
	case n.Kind == yaml.ScalarNode:
		pos, _ := p.scalar(n)
		return pos
	case n.Kind == yaml.AliasNode:
		return p.file.Pos(p.offset(n.Line, n.Column), 1+len(n.Value))
	case n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0,
		n.Kind == yaml.DocumentNode && len(n.Content) > 0:
		return p.at(n.Content[0])
	}
	return p.file.Pos(p.skipProperties(p.offset(n.Line, n.Column)), 1)
}

// scalar returns the position of a scalar's content: without quotes, and for a
// block scalar the text of its first line. exact reports whether the content
// stands there as its value says, character by character.
func (p *parser) scalar(n *yaml.Node) (pos source.Pos, exact bool) {
	data := p.file.Data
	start := p.offset(n.Line, n.Column)
	if n.Style&quotedOrBlock == 0 && n.Value == "" {
		return p.file.Pos(start, 0), true
	}
	start = p.skipProperties(start)
	var end int
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		start++
		for end = start; end < len(data) && data[end] != '"'; end++ {
			if data[end] == '\\' {
				end++
			}
		}
	case n.Style&yaml.SingleQuotedStyle != 0:
		start++
		for end = start; end < len(data); end++ {
			if bytes.HasPrefix(data[end:], []byte("''")) {
				end++
			} else if data[end] == '\'' {
				break
			}
		}
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		start, end = p.blockText(start)
	default:
		if end = start + len(n.Value); end > len(data) || string(data[start:end]) != n.Value {
			end = start + lineLen(data[start:])
		}
	}
	pos = p.file.Pos(start, end-start)
	return pos, pos.Text() == text(n)
}

const quotedOrBlock = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// text returns the value of a scalar; the line end with which a block scalar
// ends is none of it.
func text(n *yaml.Node) string {
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return strings.TrimRight(n.Value, "\n")
	}
	return n.Value
}

// skipProperties returns the offset behind the anchor and the tag that stand
// at i, which is i when there are none.
func (p *parser) skipProperties(i int) int {
	data := p.file.Data
	for i < len(data) && (data[i] == '&' || data[i] == '!') {
		for i < len(data) && strings.IndexByte(" \t\r\n", data[i]) < 0 {
			i++
		}
		i = p.skipSpace(i)
	}
	return min(i, len(data))
}

// skipSpace returns the offset of the next text that is neither space nor
// comment.
func (p *parser) skipSpace(i int) int {
	data := p.file.Data
	for i < len(data) {
		switch data[i] {
		case ' ', '\t', '\r', '\n':
			i++
		case '#':
			i += lineLen(data[i:])
		default:
			return i
		}
	}
	return i
}

// blockText returns where the first line of text of the block scalar begins
// and ends whose | or > stands at i.
func (p *parser) blockText(i int) (start, end int) {
	data := p.file.Data
	i += lineLen(data[min(i, len(data)):])
	for i < len(data) && strings.IndexByte(" \t\r\n", data[i]) >= 0 {
		i++
	}
	return i, i + lineLen(data[i:])
}

// lineLen returns the length of the first line of text without its break.
func lineLen(text []byte) int {
	for i := range text {
		if breakLen(text[i:]) > 0 {
			return i
		}
	}
	return len(text)
}
