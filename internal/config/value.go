package config

// This file reads values: each reader takes a node, complains at its place
// when it is of another kind, and knows nothing of what the value is for.

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/qgen-dev/qgen/internal/source"
)

// key is one key that a mapping may have.
type key struct {
	name     string
	required string // what to write when it is missing; "" when it may be
	later    bool   // part of the language, but not carried out
	never    string // what to do instead, where the key has no place
	read     func(name string, value *yaml.Node)
}

// into reads the value of a key into a variable.
func into[T any](to *T, read func(n *yaml.Node, name string) T) func(string, *yaml.Node) {
	return func(name string, value *yaml.Node) { *to = read(value, name) }
}

// entry is one key of a mapping with its value.
type entry struct {
	name       string
	key, value *yaml.Node
}

// The mappings whose keys are named without saying in which mapping they
// stand.
const (
	theFile  = "the file"
	theQueue = "the queue"
)

// The verbs of the annotation language, and the words of queue, that people write as keys of
// a queue; internal/queue knows what they mean.
var (
	tableVerbs  = []string{"order", "priority", "shard"}
	columnVerbs = strings.Fields("id seq status due lease claimed visible heartbeat enqueued finished expires attempts max_attempts version worker token topic payload result error on ignore")
	queueWords  = []string{"strategy", "locked", "fence", "cycle", "unit", "recover", "expired", "purge", "redrive", "enqueue", "key", "like", "among", "nulls"}
)

// placeOf says where a verb is written that is no key of a queue; "" of another word.
func placeOf(name string) string {
	switch {
	case name == "where":
		return `It is said of the table, behind a semicolon in queue: queue: "name; where \"kind = 'mail'\"".`
	case slices.Contains(tableVerbs, name):
		return fmt.Sprintf(`It is said of a column, columns: {NAME: ["%s"]}, or of the table behind a semicolon in queue: queue: "name; %s \"…\"".`, name, name)
	case slices.Contains(columnVerbs, name):
		return fmt.Sprintf(`It is said of a column: columns: {NAME: ["%s"]}.`, name)
	case slices.Contains(queueWords, name):
		return fmt.Sprintf(`It is a word of queue: queue: "%s=…".`, name)
	}
	return ""
}

// mapping reads a mapping whose keys are known. name says which it is:
// "gen.go", theFile, theQueue.
func (p *parser) mapping(n *yaml.Node, name string, keys []key) {
	entries, ok := p.entries(n, name)
	if !ok {
		return
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	for _, e := range entries {
		i := slices.Index(names, e.name)
		switch {
		case i < 0:
			c := p.errs.Errorf(p.at(e.key), "unknown key %q in %s", e.name, name)
			if place := placeOf(e.name); name == theQueue && place != "" {
				c.WithHint("%s", place)
			} else if near := source.Nearest(e.name, names); near != "" {
				c.WithHint("Did you mean %s?", near)
			} else {
				c.WithHint("Known here: %s.", strings.Join(slices.DeleteFunc(slices.Clone(names), func(n string) bool {
					k := keys[slices.Index(names, n)]
					return k.later || k.never != ""
				}), ", "))
			}
		case keys[i].never != "":
			p.errs.Errorf(p.at(e.key), "%s has no place here", join(name, e.name)).WithHint("%s", keys[i].never)
		case keys[i].later:
			s := p.keyName(e)
			s.Value = join(name, e.name)
			p.later = append(p.later, s)
		default:
			keys[i].read(join(name, e.name), e.value)
		}
	}
	for _, k := range keys {
		if k.required != "" && !slices.ContainsFunc(entries, func(e entry) bool { return e.name == k.name }) {
			p.errs.Errorf(p.at(n), "%s is missing", join(name, k.name)).WithHint("%s", k.required)
		}
	}
}

// entries returns the keys of a mapping in file order, those that << merges
// into it last. A key that is there twice is complained about.
func (p *parser) entries(n *yaml.Node, name string) ([]entry, bool) {
	n, ok := p.resolve(n)
	if !ok {
		return nil, false
	}
	if n.Kind != yaml.MappingNode {
		p.wrongKind(n, name, "a mapping of keys to values")
		return nil, false
	}
	if p.active[n] {
		p.errs.Errorf(p.at(n), "%s contains itself", name).
			WithHint("Do not merge a mapping into itself.")
		return nil, false
	}
	p.active[n] = true
	defer delete(p.active, n)

	var found, merged []entry
	first := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, ok := p.resolve(n.Content[i])
		if !ok {
			return nil, false
		}
		v := n.Content[i+1]
		switch {
		case k.Tag == "!!merge":
			more, ok := p.merge(v, name)
			if !ok {
				return nil, false
			}
			merged = append(merged, more...)
		case k.Kind != yaml.ScalarNode:
			p.errs.Errorf(p.at(k), "a key of %s is %s", name, kind(k)).WithHint("Keys are words.")
		case first[k.Value] != nil:
			p.errs.Errorf(p.at(k), "%s is there twice", join(name, k.Value)).
				WithHint("It already stands on line %d. Keep one of the two.", first[k.Value].Line)
		default:
			first[k.Value] = k
			found = append(found, entry{name: k.Value, key: k, value: v})
		}
	}
	for _, e := range merged {
		if first[e.name] == nil {
			first[e.name] = e.key
			found = append(found, e)
		}
	}
	return found, true
}

// merge returns the keys that the value of << brings: those of a mapping, or
// of a list of mappings of which the first has precedence.
func (p *parser) merge(v *yaml.Node, name string) ([]entry, bool) {
	v, ok := p.resolve(v)
	if !ok {
		return nil, false
	}
	if v.Kind != yaml.SequenceNode {
		return p.entries(v, join(name, "<<"))
	}
	var all []entry
	for _, item := range v.Content {
		more, ok := p.entries(item, join(name, "<<"))
		if !ok {
			return nil, false
		}
		all = append(all, more...)
	}
	return all, true
}

// items returns the values of a list that must not be empty.
func (p *parser) items(n *yaml.Node, name, of string) []*yaml.Node {
	list, ok := p.list(n, name, of)
	if ok && len(list) == 0 {
		p.errs.Errorf(p.at(n), "%s is empty", name).WithHint("It is a list of %s; write one at least.", of)
	}
	return list
}

// list returns the values of a list, and whether it is one.
func (p *parser) list(n *yaml.Node, name, of string) ([]*yaml.Node, bool) {
	n, ok := p.resolve(n)
	if ok && n.Kind != yaml.SequenceNode {
		p.wrongKind(n, name, "a list of "+of)
		ok = false
	}
	if !ok {
		return nil, false
	}
	return n.Content, true
}

// str reads a text.
func (p *parser) str(n *yaml.Node, name string) String {
	return p.scalarOf(n, name, "text", "!!str")
}

// number reads a text that people also write as a number: 14, "9.4".
func (p *parser) number(n *yaml.Node, name string) String {
	return p.scalarOf(n, name, "text", "!!str", "!!int", "!!float")
}

func (p *parser) scalarOf(n *yaml.Node, name, want string, tags ...string) String {
	n, ok := p.resolve(n)
	if !ok {
		return String{}
	}
	if n.Kind != yaml.ScalarNode || !slices.Contains(tags, n.Tag) {
		p.wrongKind(n, name, want)
		return String{}
	}
	s := String{Value: text(n)}
	s.Pos, s.Exact = p.scalar(n)
	if strings.TrimSpace(s.Value) == "" {
		p.errs.Errorf(p.at(n), "%s is empty", name).WithHint("Write a value or remove the key.")
		return String{}
	}
	return s
}

// strs reads a list of texts; one text stands for a list of one.
func (p *parser) strs(n *yaml.Node, name, of string) []String {
	n, ok := p.resolve(n)
	if !ok {
		return nil
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		return p.keep(nil, p.str(n, name))
	}
	var list []String
	for i, item := range p.items(n, name, of) {
		list = p.keep(list, p.str(item, fmt.Sprintf("%s[%d]", name, i)))
	}
	return list
}

func (p *parser) keep(list []String, s String) []String {
	if s.IsSet() {
		list = append(list, s)
	}
	return list
}

// word reads one of a few words.
func (p *parser) word(n *yaml.Node, name string, words []string) String {
	s := p.str(n, name)
	if s.IsSet() && !slices.Contains(words, s.Value) {
		e := p.errs.Errorf(s.Pos, "%s is %q", name, s.Value)
		if near := source.Nearest(s.Value, words); near != "" {
			e.WithHint("Did you mean %s? It may be %s.", near, or(words))
		} else {
			e.WithHint("It may be %s.", or(words))
		}
		return String{}
	}
	return s
}

// flag reads true or false.
func (p *parser) flag(n *yaml.Node, name string) Flag {
	n, ok := p.resolve(n)
	if !ok {
		return Flag{}
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		p.wrongKind(n, name, "true or false")
		return Flag{}
	}
	return Flag{Value: strings.EqualFold(n.Value, "true"), Pos: p.at(n)}
}

// float reads a number from low to high.
func (p *parser) float(n *yaml.Node, name string, low, high float64) Number {
	n, ok := p.resolve(n)
	if !ok {
		return Number{}
	}
	var v float64
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(&v) != nil {
		p.wrongKind(n, name, "a number")
		return Number{}
	}
	if !(v >= low && v <= high) { // a NaN is out of every range
		hint := fmt.Sprintf("It may be from %v to %v.", low, high)
		if math.IsInf(high, 1) {
			hint = fmt.Sprintf("It may be %v or more.", low)
		}
		p.errs.Errorf(p.at(n), "%s is %s", name, n.Value).WithHint("%s", hint)
		return Number{}
	}
	return Number{Value: v, Pos: p.at(n)}
}

// integer reads a whole number from low to high; what says of what it is the number.
func (p *parser) integer(n *yaml.Node, name string, low, high float64, what string) Number {
	v := p.float(n, name, low, high)
	if v.IsSet() && v.Value != math.Trunc(v.Value) {
		p.errs.Errorf(v.Pos, "%s is %v, which is not a whole number", name, v.Value).WithHint("Write %s.", what)
	}
	return v
}

var (
	lengthText  = regexp.MustCompile(`^([0-9]+)(ms|s|m|h|d)$`)
	lengthUnits = map[string]time.Duration{
		"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	}
)

// length reads a duration.
func (p *parser) length(n *yaml.Node, name string) Length {
	const hint = "Write a whole number and its unit: 300ms, 5s, 5m, 2h or 7d."
	s := p.number(n, name)
	if !s.IsSet() {
		return Length{}
	}
	m := lengthText.FindStringSubmatch(s.Value)
	if m == nil {
		p.errs.Errorf(s.Pos, "%s is %q, which is not a duration", name, s.Value).WithHint(hint)
		return Length{}
	}
	count, err := strconv.ParseInt(m[1], 10, 64)
	unit := lengthUnits[m[2]]
	if err != nil || count > math.MaxInt64/int64(unit) {
		p.errs.Errorf(s.Pos, "%s is %s, which is too long", name, s.Value).
			WithHint("The longest duration is %d years.", math.MaxInt64/int64(365*24*time.Hour))
		return Length{}
	}
	return Length{Value: time.Duration(count) * unit, Pos: s.Pos}
}

// resolve follows an alias to what it stands for.
func (p *parser) resolve(n *yaml.Node) (*yaml.Node, bool) {
	if p.budget--; p.budget < 0 {
		if p.budget == -1 {
			p.errs.Errorf(p.at(n), "aliases of aliases make this file too large").
				WithHint("Write the values out.")
		}
		return nil, false
	}
	if n.Kind == yaml.AliasNode {
		return n.Alias, true
	}
	return n, true
}

// wrongKind complains that a value is something else than wanted.
func (p *parser) wrongKind(n *yaml.Node, name, want string) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		p.errs.Errorf(p.at(n), "%s has no value", name).WithHint("It must be %s.", want)
		return
	}
	e := p.errs.Errorf(p.at(n), "%s must be %s, not %s", name, want, kind(n))
	if want == "text" && n.Kind == yaml.ScalarNode && n.Value != "" {
		e.WithHint("Put it in quotes: %q.", n.Value)
	}
}

// kind says what a node is, in words.
func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.Tag {
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	case "!!timestamp":
		return "a date"
	case "!!str":
		return "text"
	}
	return "a value of the type " + n.Tag
}

// join adds a key to the name of the mapping that it stands in.
func join(name, key string) string {
	if name == theFile || name == theQueue {
		return key
	}
	return name + "." + key
}

// or lists words as a choice.
func or(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
