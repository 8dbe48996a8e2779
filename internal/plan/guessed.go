package plan

// This file says to the server of what type arguments in SQL of the user's are, where it would guess.
//
// A server that is sent an argument without a type takes it for what stands beside it. Where that
// is compared with it, this is what everybody means, and an index of a column serves. Elsewhere
// it goes wrong: in current_date - $1 the argument is a date, in -$1 it is nothing, in format('%s', $1) anything.

import (
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/queue"
)

// An argumentAt is an argument within SQL of the user's.
type argumentAt struct {
	queue.Pieces
	places      [][]int
	first, last int // the pieces that it is, with parentheses around it alone
}

// guessed reports whether a server would have to guess of what type the argument is that begins at an offset
// of a text.
func guessed(text string, offset int) bool {
	var a argumentAt
	a.Pieces, a.first = queue.PieceAt(text, offset)
	if a.first < 0 {
		return false
	}
	a.places, a.last = queue.PlacesOf(text), a.first
	for a.word(a.first-1) == "(" && a.word(a.last+1) == ")" && !a.calls(a.first-1) {
		a.first, a.last = a.first-1, a.last+1
	}
	return a.guessed()
}

// word returns a piece in lower case, "" beyond the ends.
func (a argumentAt) word(i int) string {
	if i < 0 || i >= len(a.Pieces) {
		return ""
	}
	return strings.ToLower(a.Pieces[i])
}

// calls reports whether the parenthesis at i holds the arguments of a function or the values of a list.
func (a argumentAt) calls(i int) bool {
	return a.IsName(i-1) && !slices.Contains([]string{"and", "or", "not", "when", "then", "else", "where", "having", "on", "between", "like", "ilike"}, a.word(i-1))
}

// sign returns the operator that begins (step 1) or ends (step -1) at a piece, "" where none does.
func (a argumentAt) sign(i, step int) (sign string) {
	for ; i >= 0 && i < len(a.Pieces) && strings.Contains(":+-*/<>=~!@#%^&|?", a.Pieces[i]); i += step {
		if sign != "" && a.places[max(i, i-step)][0] != a.places[min(i, i-step)][1] {
			break // a sign of its own: a < -b
		}
		if step > 0 {
			sign += a.Pieces[i]
		} else {
			sign = a.Pieces[i] + sign
		}
	}
	return sign
}

// makers are the operators that make a value of what stands beside them; others compare.
var makers = []string{"+", "-", "*", "/", "%", "^", "||", "->", "->>", "#>", "#>>", "&", "|", "#", "::", ":=", "=>"}

// comparison reports whether an operator compares what stands on both sides of it.
func comparison(sign string) bool { return sign != "" && !slices.Contains(makers, sign) }

// What stands beside an argument that is a condition, or is compared by a word.
var (
	beforeCondition = []string{"", "(", "and", "or", "not", "when", "where", "between", "like", "ilike"}
	behindCondition = []string{"", ")", "and", "or", "not", "then", "between", "like", "ilike", "in", "is"}
)

// guessed is guessed of an argument that has been found.
func (a argumentAt) guessed() bool {
	before, behind := a.sign(a.first-1, -1), a.sign(a.last+1, 1)
	left, right := a.word(a.first-1), a.word(a.last+1)
	switch {
	case behind == "::", right == "as" && a.word(a.first-2) == "cast":
		return false // said by the user
	case slices.Contains(makers, before), slices.Contains(makers, behind):
		return true
	case comparison(before):
		return a.isArgument(a.first - 1 - len(before)) // of neither is the type known
	case comparison(behind):
		return a.isArgument(a.last + 1 + len(behind))
	case (left == "(" || left == ",") && (right == ")" || right == ","):
		return !a.listed()
	case left == "from" && a.word(a.first-2) == "distinct":
		return false
	}
	return !slices.Contains(beforeCondition, left) || !slices.Contains(behindCondition, right)
}

// isArgument reports whether a piece is an argument.
func (a argumentAt) isArgument(i int) bool { return strings.HasPrefix(a.word(i), "{arg:") }

// listed reports whether the argument is one of the values of IN.
func (a argumentAt) listed() bool {
	depth := 0
	for i := a.first - 1; i >= 0; i-- {
		switch a.Pieces[i] {
		case ")":
			depth++
		case "(":
			if depth--; depth < 0 {
				return a.word(i-1) == "in"
			}
		}
	}
	return false
}

// asksNull reports whether SQL goes on with the question whether what stands before it is null.
func asksNull(rest string) bool {
	next := strings.Fields(strings.ToLower(strings.ReplaceAll(rest, ")", " ) ")))
	return len(next) > 1 && next[0] == "is" && (next[1] == "null" || len(next) > 2 && next[1] == "not" && next[2] == "null")
}

// argumentType returns the type of an argument in SQL of the user's: that of a column with which it is compared,
// or else what its Go type goes with; "" where neither tells it.
func (b *builder) argumentType(text, name, goType string) string {
	names := b.spec.Read(queue.PiecesOf(text))
	a := argumentAt{Pieces: names.Pieces, places: queue.PlacesOf(text)}
	for i, piece := range names.Pieces {
		if piece != "{arg:"+name+"}" {
			continue
		}
		before, behind := a.sign(i-1, -1), a.sign(i+1, 1)
		var beside []int
		if comparison(before) {
			beside = append(beside, i-1-len(before))
		}
		if comparison(behind) {
			beside = append(beside, i+1+len(behind), i+3+len(behind)) // = any (…)
		}
		for _, at := range beside {
			if at < 0 || at >= len(names.Pieces) {
				continue
			}
			if c, _ := names.Column(at); c != nil {
				return b.castType(c.Type)
			}
		}
	}
	return b.d.Arguments[strings.TrimPrefix(goType, "*")]
}
