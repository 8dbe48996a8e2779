package main

// This file prints complaints: for people, and in the forms that machines read.

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-isatty"

	"github.com/qgen-dev/qgen/internal/generate"
	"github.com/qgen-dev/qgen/internal/source"
)

// format is the value of the flag --format.
type format string

var formats = []string{"text", "json", "github", "sarif"}

func (f *format) value() string {
	if *f == "" {
		return "text"
	}
	return string(*f)
}

// String returns the format, as the flag's default shows it.
func (f *format) String() string { return f.value() }

// Type is the placeholder in the usage text.
func (f *format) Type() string { return "format" }

// Set takes one of the formats.
func (f *format) Set(s string) error {
	if !slices.Contains(formats, s) {
		return fmt.Errorf("it may be %s or %s", strings.Join(formats[:len(formats)-1], ", "), formats[len(formats)-1])
	}
	*f = format(s)
	return nil
}

// diagnostic is one complaint in a form of its own, for machines.
type diagnostic struct {
	Rule      string `json:"rule"` // "input" or "drift"
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`       // from 1
	Column    int    `json:"column,omitempty"`     // from 1, in characters
	EndColumn int    `json:"end_column,omitempty"` // behind the last character
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"`

	detail string // for people
}

// complaints returns the complaints of a list. Files are named as seen from
// the working directory, to which root leads.
func complaints(errs *source.ErrorList, root string) []diagnostic {
	var all []diagnostic
	for _, e := range errs.All() {
		d := diagnostic{Rule: "input", Message: e.Message(), Hint: e.Hint, detail: e.Detail()}
		if e.Pos.IsValid() {
			d.File = seen(root, e.Pos.File.Path)
			d.Line, d.Column = e.Pos.Line(), e.Pos.Column()
			first, _, _ := strings.Cut(e.Pos.Text(), "\n")
			d.EndColumn = d.Column + max(1, utf8.RuneCountInString(first))
			d.detail = fmt.Sprintf("%s:%d:%d", d.File, d.Line, d.Column) + strings.TrimPrefix(d.detail, e.Pos.String())
		}
		all = append(all, d)
	}
	return all
}

// seen returns a path of the configuration as seen from the working directory.
func seen(root, name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(root, name)
}

// drift returns a difference between the disk and what is generated.
func drift(c generate.Change, root string) diagnostic {
	d := diagnostic{Rule: "drift", File: path.Join(root, c.Path), Line: 1, Column: 1, EndColumn: 2, Hint: "Run qgen generate."}
	switch c.Kind {
	case generate.Missing:
		d.Message = "the file is missing"
	case generate.Stale:
		d.Message = "the file is stale: it is not generated any more"
	default:
		d.Message = "the file differs from what is generated"
	}
	return d
}

// print prints diagnostics in the format of the session.
func (s *session) print(all []diagnostic) error {
	switch s.format.value() {
	case "json":
		return printJSON(s.stdout, all)
	case "github":
		return printGitHub(s.stdout, all)
	case "sarif":
		return printSARIF(s.stdout, all)
	}
	return printText(s.stderr, all, coloured(s.stderr))
}

// coloured reports whether w is a terminal that may show colours.
func coloured(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isatty.IsTerminal(f.Fd())
}

// printText prints diagnostics for people.
func printText(w io.Writer, all []diagnostic, colour bool) error {
	for i, d := range all {
		text := d.detail
		if colour {
			text = paint(text)
		}
		if i > 0 {
			text = "\n" + text
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

// paint makes the first line of a complaint bold and its marks red.
func paint(detail string) string {
	lines := strings.SplitAfter(detail, "\n")
	for i, line := range lines {
		text := strings.TrimSuffix(line, "\n")
		switch {
		case i == 0:
			lines[i] = "\x1b[1m" + text + "\x1b[0m\n"
		case strings.Trim(text, " \t^") == "" && strings.Contains(text, "^"):
			lines[i] = "\x1b[31m" + text + "\x1b[0m\n"
		}
	}
	return strings.Join(lines, "")
}

// printJSON prints diagnostics as one JSON object.
func printJSON(w io.Writer, all []diagnostic) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Diagnostics []diagnostic `json:"diagnostics"`
	}{append([]diagnostic{}, all...)})
}

var (
	githubText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// printGitHub prints diagnostics as workflow commands, which GitHub shows
// beside the lines.
func printGitHub(w io.Writer, all []diagnostic) error {
	for _, d := range all {
		place := "title=qgen"
		if d.File != "" {
			place = fmt.Sprintf("file=%s,line=%d,col=%d,endColumn=%d,title=qgen", githubProperty.Replace(d.File), d.Line, d.Column, d.EndColumn)
		}
		if _, err := fmt.Fprintf(w, "::error %s::%s\n", place, githubText.Replace(text(d))); err != nil {
			return err
		}
	}
	return nil
}

// text is the message with its hint.
func text(d diagnostic) string {
	if d.Hint == "" {
		return d.Message
	}
	return d.Message + "\n" + d.Hint
}

// The parts of SARIF 2.1.0 that are needed.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string       `json:"id"`
		ShortDescription sarifMessage `json:"shortDescription"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		PhysicalLocation struct {
			ArtifactLocation struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region struct {
				StartLine   int `json:"startLine"`
				StartColumn int `json:"startColumn"`
				EndColumn   int `json:"endColumn"`
			} `json:"region"`
		} `json:"physicalLocation"`
	}
)

// printSARIF prints diagnostics as a SARIF log.
func printSARIF(w io.Writer, all []diagnostic) error {
	run := sarifRun{
		Tool: sarifTool{Driver: sarifDriver{
			Name:           "qgen",
			InformationURI: "https://github.com/qgen-dev/qgen",
			Rules: []sarifRule{
				{ID: "input", ShortDescription: sarifMessage{"The configuration, the DDL or an annotation is wrong."}},
				{ID: "drift", ShortDescription: sarifMessage{"A file is not what is generated."}},
			},
		}},
		ColumnKind: "unicodeCodePoints",
		Results:    []sarifResult{},
	}
	for _, d := range all {
		r := sarifResult{RuleID: d.Rule, Level: "error", Message: sarifMessage{text(d)}}
		if d.File != "" {
			var l sarifLocation
			l.PhysicalLocation.ArtifactLocation.URI = (&url.URL{Path: d.File}).String()
			l.PhysicalLocation.Region.StartLine = d.Line
			l.PhysicalLocation.Region.StartColumn = d.Column
			l.PhysicalLocation.Region.EndColumn = d.EndColumn
			r.Locations = []sarifLocation{l}
		}
		run.Results = append(run.Results, r)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{run},
	})
}
