package queue

// This file lets qgen.yaml win over comments: what it says of a matter counts, and a note
// says what does not. A matter is a verb of a column or of the table, a word of the queue
// annotation, and what becomes of a finished or a failed row, which several can say.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/config"
)

// settle leaves one source for each matter, given what qgen.yaml says in the place of the
// queue annotation and by keys of its own.
func (one *oneQueue) settle(heads []*role, q *config.Queue) {
	said := &said{heads: heads, roles: one.roles, config: q}
	v := findVerb("queue")
	one.words = slices.DeleteFunc(slices.Clone(one.words), func(w *word) bool {
		return v.rule(w) != nil && one.yields(w, said.insteadOf(w))
	})
	for _, head := range heads {
		if w := head.unnamed(); w != nil {
			one.name = w.name
		}
		one.words = append(one.words, head.words...)
		if !one.pos.IsValid() {
			one.pos = head.pos
		}
	}
	var kept []*role
	for _, r := range one.roles {
		switch {
		case r.yaml:
		case said.byRole(r):
			one.notes = append(one.notes, fmt.Sprintf("qgen.yaml says what %s is; the comment at %s is not used", strings.TrimPrefix(r.String(), mark), r.pos))
			continue
		case r.verb == "id" && said.word("id") != nil:
			one.yields(&word{pos: r.pos}, said.word("id").pos.Text())
			continue
		case r.verb == "status":
			left := r.less(func(w *word) bool { return one.yields(w, said.insteadOfState(w)) })
			if left != r && len(left.words) == 0 {
				continue
			}
			r = left
		}
		kept = append(kept, r)
	}
	one.roles = kept
}

// yields notes that a word of a comment is not used, if qgen.yaml says something instead.
func (one *oneQueue) yields(w *word, instead string) bool {
	if instead != "" {
		one.notes = append(one.notes, fmt.Sprintf("qgen.yaml says %s; %s at %s is not used", instead, w.pos.Text(), w.pos))
	}
	return instead != ""
}

// less returns the role without some of its words.
func (r *role) less(without func(*word) bool) *role {
	a := *r.annotation
	a.words = slices.DeleteFunc(slices.Clone(a.words), func(w *word) bool {
		if !without(w) {
			return false
		}
		a.text = strings.Join(strings.Fields(strings.Replace(a.text, w.pos.Text(), "", 1)), " ")
		return true
	})
	if len(a.words) == len(r.words) {
		return r
	}
	return &role{annotation: &a, column: r.column}
}

// said is what qgen.yaml says of a queue.
type said struct {
	heads  []*role // in the place of the queue annotation
	roles  []*role // of qgen.yaml and of comments
	config *config.Queue
}

// word returns the first of these words that qgen.yaml has for the queue annotation.
func (s *said) word(names ...string) *word {
	for _, name := range names {
		for _, head := range s.heads {
			if w := head.word(name); w != nil {
				return w
			}
		}
	}
	return nil
}

// byRole reports whether qgen.yaml has a role in the place of one of a comment.
func (s *said) byRole(r *role) bool {
	return slices.ContainsFunc(s.roles, func(other *role) bool {
		return other.yaml && other.column == r.column && (other.verb == r.verb || other.verb == "ignore")
	})
}

// ofColumns returns the word, or the verb, that qgen.yaml says of any column.
func (s *said) ofColumns(verb, name string) string {
	for _, r := range s.roles {
		switch {
		case !r.yaml || r.verb != verb:
		case name == "":
			return r.pos.Text() + " of column " + r.column.Name
		case r.has(name):
			return verb + " " + r.word(name).pos.Text()
		}
	}
	return ""
}

// rivals are the words of the queue annotation that say something else of the same matter.
var rivals = map[string][]string{"cycle": {"done"}, "done": {"cycle"}, "unit": {"cycle", "done"}}

// insteadOf returns what qgen.yaml says in the place of a word of the queue annotation, ""
// if nothing.
func (s *said) insteadOf(w *word) string {
	if by := s.word(append([]string{w.name}, rivals[w.name]...)...); by != nil {
		return by.pos.Text()
	}
	stays := w.op == equals && w.values[0].text == "keep"
	switch q := s.config; {
	case w.name == "clock" && q.Clock.IsSet():
		return "clock: " + q.Clock.Value
	case w.name == "emit" && q.Emit.IsSet():
		return "emit: " + q.Emit.Value
	case w.name == "fence" && q.MinFence.IsSet():
		return "min_fence: " + q.MinFence.Value
	case w.name == "id":
		return s.ofColumns("id", "")
	case w.name == "failed" && q.FailedMove != nil:
		return "failed: {move: …}"
	case w.name == "failed" && !stays:
		return s.ofColumns("status", "failed")
	case w.name != "done" && w.name != "cycle" && w.name != "unit":
	case q.DoneMove != nil:
		return "done: {move: …}"
	case !stays:
		return s.ofColumns("status", "done")
	}
	return ""
}

// insteadOfState returns what qgen.yaml says in the place of a word of a status, by which a
// finished or a failed row would stay as one.
func (s *said) insteadOfState(w *word) string {
	var by *word
	switch w.name {
	case "done":
		by = s.word("cycle", "done")
	case "failed":
		by = s.word("failed")
	}
	if by == nil || by.name != "cycle" && by.values[0].text == "keep" {
		return ""
	}
	return by.pos.Text()
}
