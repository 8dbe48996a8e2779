package queue

// This file holds the vocabulary: every verb, where it stands, and the words
// that it takes. Annotations are checked against it before anything is made
// of them.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/source"
)

// place says where a verb may stand.
type place int

const (
	onTable place = 1 << iota
	onColumn
)

// positional says what a verb takes without a name.
type positional int

const (
	nothing  positional = iota
	aName               // one bare word
	aNumber             // one number
	anSQL               // one expression in double quotes
	anything            // the verb reads its words itself
)

// positionals name them for users.
var positionals = map[positional]string{aName: "name", aNumber: "number", anSQL: "expression"}

// takes says what follows the name of a word.
type takes int

const (
	noValue   takes = iota // a flag
	mayValue               // a flag, or name=value
	mayTwo                 // a flag, or name=value|value
	oneValue               // name=value
	anyValues              // name=value|value
	stateTest              // name=value|value, name~value|value, name:=value
)

// verb is one entry of the vocabulary.
type verb struct {
	name  string
	on    place
	takes positional
	words []rule
}

// rule is one word of a verb.
type rule struct {
	name  string
	takes takes
	only  []string // the values, where they are fixed
}

// The words of everything that keeps time.
var (
	timeWords   = []rule{{name: "as", takes: oneValue}, {name: "clock", takes: oneValue, only: clocks}}
	lengthWords = []rule{{name: "unit", takes: oneValue, only: []string{"us", "ms", "s", "m", "h", "d"}}}
	freeWords   = []rule{{name: "free", takes: anyValues}}
	expireWords = []rule{{name: "expired", takes: oneValue, only: []string{"claim", "recover", "fail"}}}
	// What does not say by itself when a row is free again leaves an expired one to Recover.
	lapseWords = []rule{{name: "expired", takes: oneValue, only: []string{"recover", "fail"}}}
)

// clocks are the clocks of a time without zone.
var clocks = []string{"utc", "local"}

// strategyNames are the ways to claim that the language knows; which of them a
// database has is not decided here.
var strategyNames = []string{"returning", "lock_update", "block", "token", "guarded", "advisory", "hold", "pop", "lease_table", "partition", "offset"}

// verbs is the vocabulary.
var verbs = []*verb{
	{name: "queue", on: onTable, takes: aName, words: []rule{
		{name: "strategy", takes: oneValue, only: strategyNames},
		{name: "locked", takes: oneValue, only: []string{"wait"}},
		{name: "fence", takes: oneValue, only: []string{"none", "status", "claimed", "attempt", "token"}},
		{name: "done", takes: oneValue, only: []string{"delete", "keep"}},
		{name: "failed", takes: oneValue, only: []string{"delete", "keep"}},
		{name: "id", takes: oneValue, only: []string{"row"}},
		{name: "clock", takes: oneValue, only: clocks},
		{name: "cycle", takes: mayValue}, lengthWords[0],
		{name: "table", takes: oneValue},
		{name: "emit", takes: oneValue, only: []string{"procedure"}},
		{name: "recover", takes: oneValue, only: []string{"start", "own"}}, lapseWords[0],
		{name: "purge", takes: oneValue, only: []string{"done", "failed", "apart", "none"}},
		{name: "redrive", takes: oneValue, only: []string{"none"}},
		{name: "enqueue", takes: oneValue, only: []string{"absent", "update"}}, {name: "key", takes: oneValue},
		{name: "like", takes: oneValue}, {name: "among", takes: anyValues},
		{name: "nulls", takes: oneValue, only: []string{"distinct"}},
	}},
	{name: "where", on: onTable, takes: anSQL},
	{name: "id", on: onColumn, takes: aNumber},
	{name: "seq", on: onColumn, words: []rule{
		{name: "notunique", takes: noValue},
		{name: "gaps", takes: noValue}, {name: "settle", takes: oneValue},
	}},
	{name: "status", on: onColumn, words: slices.Concat([]rule{
		{name: "ready", takes: stateTest}, {name: "running", takes: stateTest},
		{name: "claimed", takes: stateTest},
		{name: "done", takes: stateTest}, {name: "failed", takes: stateTest},
	}, timeWords)},
	{name: "due", on: onColumn, words: slices.Concat([]rule{
		{name: "null", takes: oneValue, only: []string{"now", "never"}},
		{name: "add", takes: oneValue}, {name: "never", takes: oneValue}, {name: "always", takes: oneValue},
	}, lengthWords, timeWords)},
	{name: "lease", on: onColumn, words: slices.Concat([]rule{{name: "length", takes: oneValue}}, lengthWords, freeWords, expireWords, timeWords)},
	{name: "claimed", on: onColumn, words: slices.Concat([]rule{{name: "timeout", takes: oneValue}}, lengthWords, freeWords, expireWords, timeWords)},
	{name: "visible", on: onColumn, words: slices.Concat([]rule{
		{name: "length", takes: oneValue},
		{name: "null", takes: oneValue, only: []string{"now", "never"}},
	}, lengthWords, lapseWords, timeWords)},
	{name: "heartbeat", on: onColumn, words: slices.Concat([]rule{{name: "timeout", takes: oneValue}}, lengthWords, lapseWords, timeWords)},
	{name: "enqueued", on: onColumn, words: timeWords},
	{name: "finished", on: onColumn, words: slices.Concat([]rule{{name: "also_failed", takes: noValue}}, timeWords)},
	{name: "expires", on: onColumn, words: timeWords},
	{name: "attempts", on: onColumn, words: []rule{
		{name: "up", takes: noValue}, {name: "down", takes: noValue},
		{name: "on", takes: oneValue, only: []string{"claim", "retry", "recover"}},
		{name: "max", takes: oneValue},
		{name: "null", takes: oneValue, only: []string{"0", "unlimited"}},
		{name: "limit", takes: oneValue, only: []string{"claim", "fail"}},
	}},
	{name: "max_attempts", on: onColumn, words: []rule{
		{name: "retries", takes: noValue},
		{name: "null", takes: oneValue},
		{name: "unlimited", takes: anyValues},
	}},
	{name: "version", on: onColumn, words: []rule{{name: "on", takes: oneValue, only: []string{"claim", "ready"}}}},
	{name: "worker", on: onColumn, words: slices.Concat([]rule{
		{name: "mine", takes: oneValue, only: []string{"ready"}},
		{name: "type", takes: oneValue, only: []string{"int", "text", "uuid"}},
		{name: "alive", takes: oneValue},
		{name: "append", takes: noValue},
	}, freeWords, lapseWords)},
	{name: "token", on: onColumn, words: slices.Concat([]rule{
		{name: "type", takes: oneValue, only: []string{"int", "text", "uuid"}},
		{name: "from", takes: oneValue, only: []string{"companion"}},
	}, freeWords)},
	{name: "topic", on: onColumn, words: []rule{
		{name: "list", takes: noValue}, {name: "not", takes: noValue}, {name: "min", takes: noValue}, {name: "max", takes: noValue},
		{name: "prefix", takes: noValue}, {name: "optional", takes: noValue}, {name: "any", takes: anyValues},
	}},
	{name: "shard", on: onTable | onColumn, words: []rule{
		{name: "mod", takes: noValue}, {name: "range", takes: mayTwo}, {name: "hash", takes: oneValue},
	}},
	{name: "group", on: onTable | onColumn, takes: anything},
	{name: "priority", on: onTable | onColumn, takes: anything},
	{name: "order", on: onTable | onColumn, takes: anything},
	{name: "payload", on: onColumn, words: []rule{{name: "type", takes: oneValue}, {name: "json", takes: noValue}}},
	{name: "result", on: onColumn, words: []rule{
		{name: "type", takes: oneValue}, {name: "json", takes: noValue},
		{name: "clear", takes: oneValue, only: []string{"retry"}},
		{name: "max", takes: oneValue}, {name: "append", takes: noValue},
	}},
	{name: "error", on: onColumn, words: []rule{
		{name: "max", takes: oneValue}, {name: "append", takes: noValue}, {name: "json", takes: noValue},
		{name: "clear", takes: oneValue, only: []string{"retry"}},
	}},
	{name: "on", on: onColumn, takes: anything},
	{name: "ignore", on: onColumn},
}

// findVerb returns the entry of a verb, nil when there is none.
func findVerb(name string) *verb {
	for _, v := range verbs {
		if v.name == name {
			return v
		}
	}
	return nil
}

// refuse complains about what the language has and this version has not.
func refuse(errs *source.ErrorList, pos source.Pos, what, meanwhile string) {
	errs.Errorf(pos, "%s is part of the language but this version does not carry it out yet", what).WithHint("%s", meanwhile)
}

// otherWords are what people call verbs, states and steps elsewhere.
var otherWords = map[string]string{
	"id": "key pk primary", "status": "state", "due": "run_at available_at next_run delayed scheduled scheduled_at schedule not_before delay eta",
	"claimed": "locked locked_at started started_at reserved reserved_at assigned", "lease": "lock locked_until lease_until lock_expires", "visible": "visibility vt",
	"attempts": "retries tries retry_count failures num_retries", "max_attempts": "max_retries max_tries", "worker": "owner locked_by holder",
	"enqueued": "created created_at inserted_at", "finished": "completed_at finished_at done_at completed ended ended_at", "order": "sort",
	"where": "filter condition", "topic": "channel kind type", "payload": "body data args message", "ignore": "skip",
	"ready":   "pending queued new waiting available open todo",
	"running": "processing active started executing locked busy doing working in_progress",
	"done":    "completed complete success succeeded finished finish processed", "failed": "error errored failure dead discarded cancelled",
	"release": "requeue unlock", "renew": "extend heartbeat", "enqueue": "insert create",
	"desc": "descending high highest", "asc": "ascending low lowest", "returning": "skiplocked skip_locked",
	"delete": "remove drop", "keep": "retain stay", "absent": "ignore skip missing nothing", "update": "upsert replace merge overwrite conflict duplicate existing again reenqueue",
}

// meant returns the candidate that a word most likely stands for, "" when none
// is likely.
func meant(word string, candidates []string) string {
	for _, c := range candidates {
		if slices.Contains(strings.Fields(otherWords[c]), strings.ToLower(word)) {
			return c
		}
	}
	return source.Nearest(word, candidates)
}

// suggest returns the hint for a word that is not one of candidates.
func suggest(word string, candidates []string, otherwise string) string {
	if near := meant(word, candidates); near != "" {
		return "Did you mean " + near + "?"
	}
	return otherwise + " " + strings.Join(candidates, ", ") + "."
}

// noVerbs are words that are said in another place.
var noVerbs = map[string]string{
	"timeout":  "It is a word of the column that tells when a claim runs out, as qgen:claimed timeout=30m.",
	"strategy": "It is a word of the table, as qgen:queue strategy=hold.", "cycle": "It is a word of the table, as qgen:queue cycle=10m.",
	"fence": "It is a word of the table, as qgen:queue fence=token.", "unique": "It is a word of the table, as qgen:queue enqueue=absent.",
	"backoff": "It is a key of qgen.yaml, as backoff: {base: 5s, max: 1h}.", "also": "It is a key of qgen.yaml.", "outcomes": "It is a key of qgen.yaml.", "workers": "It is a key of qgen.yaml.",
	"set":      "It stands behind the steps: qgen:on claim set now.",
	"ready_if": "It is a key of qgen.yaml; in a comment it is qgen:where \"…\" above CREATE TABLE.", "purge_if": "It is a key of qgen.yaml.", "recover_if": "It is a key of qgen.yaml.", "update_if": "It is a key of qgen.yaml.", "enqueue_if": "It is a key of qgen.yaml.",
	"move": "It is a key of qgen.yaml, as failed: {move: {to: dead, columns: same}}.", "dead_letter": "It is a key of qgen.yaml, as failed: {move: {to: dead, columns: same}}.",
}

// isStepName reports whether a word names a step that writes.
func isStepName(word string) bool {
	return slices.Contains(TransitionNames, TransitionName(word)) && word != string(Purge)
}

// check compares an annotation with the vocabulary and reports whether it can
// be used. All that is wrong is reported.
func (a *annotation) check(errs *source.ErrorList) bool {
	v := findVerb(a.verb)
	if v == nil {
		var names []string
		for _, v := range verbs {
			names = append(names, v.name)
		}
		e := errs.Errorf(a.pos, "unknown verb %q", a.verb)
		switch place := noVerbs[strings.ToLower(a.verb)]; {
		case isStepName(a.verb) && a.yaml:
			e.WithHint("A comma divides the items of a YAML list. Write quotes around the whole annotation: [\"on claim,done set now\"].")
		case isStepName(a.verb):
			e.WithHint("What a step writes is said with on: qgen:on %s set now.", a.verb)
		case place != "":
			e.WithHint("%s", place)
		default:
			e.WithHint("%s Free text goes after \" -- \" or in parentheses.", suggest(a.verb, names, "The verbs are"))
		}
		return false
	}
	if v.takes == anything {
		return true
	}
	before := errs.Len()
	seen := map[string]*word{}
	var rest *word // up to which words belong to a value before them
	for i, w := range a.words {
		if rest != nil {
			if w == rest {
				rest = nil
			}
			continue
		}
		keys := []string{w.name}
		r := v.rule(w)
		switch {
		case w.op == separator:
			errs.Errorf(w.pos, "unexpected comma").
				WithHint("Words stand apart by spaces, several values by |: any=a|b. A comma inside a value needs quotes: 'a,b'.")
			continue
		case r != nil:
			r.check(v, w, errs)
			if r.takes == stateTest {
				keys = []string{w.name + string(tests), w.name + string(assigns)} // one test and one write
				if w.op != equals {
					keys = []string{w.name + string(w.op)}
				}
			}
		case v.accepts(w):
			keys = []string{""} // one of them
		default:
			if said := a.words[:i+1]; v.startsOther(said) {
				v.unknown(said, errs)
				return false
			}
			last := i
			for v.continues(a.words[:i+1]) && last+1 < len(a.words) && v.continues(a.words[:last+2]) {
				last++
			}
			v.unknown(a.words[:i+1], errs, a.words[i+1:last+1]...)
			if last > i {
				rest = a.words[last]
			}
			continue
		}
		var first *word
		for _, key := range keys {
			if first == nil {
				first = seen[key]
			}
			seen[key] = w
		}
		switch {
		case first == nil:
		case keys[0] == "":
			errs.Errorf(w.pos, "qgen:%s takes one %s, and has one already: %s", v.name, positionals[v.takes], first.pos.Text()).
				WithHint("Keep one of them. Free text goes after \" -- \" or in parentheses.")
		default:
			errs.Errorf(w.pos, "qgen:%s says %s twice", v.name, w.name).WithHint("%s", keepOne(r, first, w))
		}
	}
	if v.takes == anSQL && len(a.words) == 0 {
		errs.Errorf(a.pos, "qgen:%s needs an expression", v.name).WithHint(`Write it in double quotes: qgen:%s "suspended = 0".`, v.name)
	}
	return errs.Len() == before
}

// keepOne says what to write in the place of two words that say the same.
func keepOne(r *rule, first, second *word) string {
	if r == nil || r.takes != stateTest || first.op == second.op {
		return "Keep one of them."
	}
	if first.op == assigns || second.op == tests {
		first, second = second, first
	}
	values := func(w *word) string {
		var written []string
		for _, l := range w.values {
			written = append(written, l.written())
		}
		return strings.Join(written, "|")
	}
	isSQL := slices.ContainsFunc(first.values, func(l literal) bool { return l.quote == sql })
	if first.op == tests && isSQL {
		return fmt.Sprintf("Keep one of them, or say what is tested and what is written: %s~%s %s:=%s.", r.name, values(first), r.name, second.values[0].written())
	}
	if first.op == tests {
		return fmt.Sprintf("Keep one of them. Of several values all are tested, and the first is written: %s=%s|%s.", r.name, values(second), values(first))
	}
	return fmt.Sprintf("Keep one of them, or say what is tested and what is written: %s~%s %s:=%s.", r.name, values(first), r.name, values(second))
}

// rule returns the rule that a word falls under, nil when there is none.
func (v *verb) rule(w *word) *rule {
	if len(w.values) == 1 && w.op == flag && w.values[0].quote != bare {
		return nil
	}
	for i := range v.words {
		if v.words[i].name == w.name {
			return &v.words[i]
		}
	}
	return nil
}

// accepts reports whether a word without a rule is what the verb takes without
// a name.
func (v *verb) accepts(w *word) bool {
	if w.op != flag {
		return false
	}
	switch value := w.values[0]; v.takes {
	case aName:
		return value.quote == bare && !isDigits(value.text)
	case aNumber:
		return value.quote == bare && isDigits(value.text)
	case anSQL:
		return value.quote == sql
	}
	return false
}

// startsOther reports whether words that ought to begin with a name begin with another verb.
func (v *verb) startsOther(words []*word) bool {
	return v.takes == aName && len(words) == 2 && words[0].op == flag && findVerb(words[0].name) != nil
}

// continues reports whether the last of words looks like the rest of a value with a space in it.
func (v *verb) continues(words []*word) bool {
	w := words[len(words)-1]
	if w.op != flag || w.values[0].quote != bare || v.rule(w) != nil || findVerb(w.values[0].text) != nil {
		return false
	}
	var flags []string
	for _, r := range v.words {
		if r.takes == noValue || r.takes == mayValue || r.takes == mayTwo {
			flags = append(flags, r.name)
		}
	}
	if meant(w.values[0].text, flags) != "" {
		return false
	}
	for i := len(words) - 2; i >= 0; i-- {
		switch value := words[i]; {
		case value.op == separator:
			return false
		case value.op != flag:
			return value.values[len(value.values)-1].quote == bare && v.rule(value) != nil
		case v.rule(value) != nil:
			return false
		}
	}
	return false
}

func (v *verb) wordNames() []string {
	var names []string
	for _, r := range v.words {
		names = append(names, r.name)
	}
	return names
}

// inQuotes writes the value that the last of words ends, which has spaces, as it is to be written.
func inQuotes(words []*word) string {
	i := len(words) - 1
	for words[i].op == flag {
		i--
	}
	w := words[i]
	var values []string
	for _, l := range w.values {
		values = append(values, l.written())
	}
	last := w.values[len(w.values)-1].text
	for _, more := range words[i+1:] {
		last += " " + more.values[0].text
	}
	values[len(values)-1] = "'" + last + "'"
	return w.name + string(w.op) + strings.Join(values, "|")
}

// unknown complains about the last of words, which the verb does not have. What follows belongs
// to it.
func (v *verb) unknown(words []*word, errs *source.ErrorList, follows ...*word) {
	w := words[len(words)-1]
	names := v.wordNames()
	var hint string
	switch {
	case v.startsOther(words):
		errs.Errorf(words[0].pos, "%s is a verb of its own, and qgen:%s begins with the name of the queue", words[0].name, v.name).
			WithHint("Write the name and a semicolon before it, as in mails; %s \"…\".", words[0].name)
		return
	case v.takes == anSQL:
		hint = `It takes one expression in double quotes: qgen:` + v.name + ` "suspended = 0".`
	case v.takes == aNumber:
		hint = "It takes one number, the place of the column among the parts of the key."
	case len(names) == 0:
		hint = "It takes no words."
	case v.continues(words):
		hint = "A value with a space stands in quotes: " + inQuotes(append(slices.Clip(words), follows...)) + ". Else, qgen:" + v.name + " takes " + strings.Join(names, ", ") + "."
	default:
		hint = suggest(w.name, names, "It takes")
	}
	what := w.name
	if what == "" {
		what = w.values[0].text
	}
	for _, r := range v.words {
		_, isLength := parseDuration(what)
		switch value, ok := strings.CutPrefix(what, r.name+":"); {
		case ok && r.takes != noValue && value != "" && w.op == flag:
			hint = "Write " + r.name + "=" + value + "."
		case isLength && w.op == flag && (r.name == "length" || r.name == "timeout"):
			hint = "Write " + r.name + "=" + what + "."
		}
	}
	if strings.EqualFold(what, "or") {
		hint = "Several values stand with a bar between them: ready=new|retry."
	}
	for _, other := range words[max(0, len(words)-2):] {
		if other.op == flag && findVerb(other.name) != nil && v.rule(other) == nil {
			hint = other.name + " is a verb of its own and stands behind a semicolon: …; " + other.name + " …."
		}
	}
	errs.Errorf(w.pos, "qgen:%s has no word %q", v.name, what).
		WithHint("%s Free text goes after \" -- \" or in parentheses.", hint)
}

// check compares a word with its rule.
func (r *rule) check(v *verb, w *word, errs *source.ErrorList) {
	switch {
	case r.takes == noValue && w.op != flag:
		errs.Errorf(w.pos, "%s takes no value", r.name).WithHint("Write qgen:%s %s.", v.name, r.name)
		return
	case (r.takes == mayValue || r.takes == mayTwo) && w.op == flag:
		return
	case r.takes != noValue && w.op == flag:
		errs.Errorf(w.pos, "%s needs a value", r.name).WithHint("Write %s=…, without spaces.", r.name)
		return
	case r.takes != noValue && r.takes != stateTest && w.op != equals:
		errs.Errorf(w.pos, "%s cannot be followed by %s", r.name, w.op).
			WithHint("Write %s=…. The signs ~ (test only) and := (write only) belong to qgen:status.", r.name)
		return
	case r.takes == mayTwo && len(w.values) != 2:
		errs.Errorf(w.pos, "%s takes the least and the greatest value", r.name).WithHint("Write qgen:%s %s=0|1023.", v.name, r.name)
		return
	case (r.takes == oneValue || r.takes == mayValue) && len(w.values) > 1:
		errs.Errorf(w.pos, "%s takes one value", r.name).WithHint("Keep one of %s. A | inside a value needs quotes: 'a|b'.", join(w.values))
		return
	}
	if r.only == nil {
		return
	}
	for _, value := range w.values {
		if !slices.Contains(r.only, value.text) || value.quote == sql {
			known := "It is one of"
			if len(r.only) == 1 {
				known = "It is always"
			}
			errs.Errorf(value.pos, "%s cannot be %q", r.name, value.text).WithHint("%s", suggest(value.text, r.only, known))
		}
	}
}

// word returns the word of that name, nil when it is not there.
func (a *annotation) word(name string) *word {
	if a == nil {
		return nil
	}
	for _, w := range a.words {
		if w.name == name && w.op != separator && (w.op != flag || w.values[0].quote == bare) {
			return w
		}
	}
	return nil
}

// has reports whether a word is there.
func (a *annotation) has(name string) bool { return a.word(name) != nil }

// value returns the text of name=value, "" when the word is not there.
func (a *annotation) value(name string) string {
	if w := a.word(name); w != nil {
		return w.values[0].text
	}
	return ""
}

// unnamed returns the first word without a name that no rule of the verb
// takes, nil when there is none.
func (a *annotation) unnamed() *word {
	v := findVerb(a.verb)
	for _, w := range a.words {
		if v.rule(w) == nil && v.accepts(w) {
			return w
		}
	}
	return nil
}

// join lists values as people write them.
func join(values []literal) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, v.text)
	}
	return strings.Join(texts, ", ")
}

func orWord(word, otherwise string) string {
	if word == "" {
		return otherwise
	}
	return word
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
