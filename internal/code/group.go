package code

// Group is a list of statements under construction, between brackets or in a
// file. Its methods begin a statement in it, which can be added to.
type Group struct{ items []*Statement }

// next begins a statement.
func (g *Group) next() *Statement {
	s := new(Statement)
	g.items = append(g.items, s)
	return s
}

// Add begins a statement of the items.
func (g *Group) Add(items ...*Statement) *Statement { return g.next().Add(items...) }

// Brackets are what stands around and between the items of a list.
type Brackets struct {
	Open, Close, Separator string
	Lines                  bool // each item begins a line, and so does Close
}

// The brackets of the vocabulary.
var (
	appended   = Brackets{Open: "append(", Close: ")", Separator: ","}
	asserted   = Brackets{Open: ".(", Close: ")"}
	called     = Brackets{Open: "(", Close: ")", Separator: ","}
	cases      = Brackets{Open: "case ", Close: ":", Separator: ","}
	closed     = Brackets{Open: "close(", Close: ")"}
	condition  = Brackets{Open: "if ", Separator: ";"}
	created    = Brackets{Open: "new(", Close: ")"}
	defined    = Brackets{Open: "(", Close: ")", Lines: true}
	deleted    = Brackets{Open: "delete(", Close: ")", Separator: ","}
	indexed    = Brackets{Open: "[", Close: "]", Separator: ":"}
	interfaced = Brackets{Open: "interface{", Close: "}", Lines: true}
	length     = Brackets{Open: "len(", Close: ")"}
	list       = Brackets{Separator: ","}
	loop       = Brackets{Open: "for ", Separator: ";"}
	made       = Brackets{Open: "make(", Close: ")", Separator: ","}
	mapped     = Brackets{Open: "map[", Close: "]"}
	parens     = Brackets{Open: "(", Close: ")"}
	returned   = Brackets{Open: "return ", Separator: ","}
	structured = Brackets{Open: "struct{", Close: "}", Lines: true}
	switched   = Brackets{Open: "switch ", Separator: ";"}
	typed      = Brackets{Open: "[", Close: "]", Separator: ","}
	values     = Brackets{Open: "{", Close: "}", Separator: ","}
)

// block returns the brackets of a block: braces, but none behind a case.
func (s *Statement) block() Brackets {
	if s.label {
		return Brackets{Lines: true}
	}
	return Brackets{Open: "{", Close: "}", Lines: true}
}

// Custom adds items between brackets of any kind.
func (s *Statement) Custom(b Brackets, items ...*Statement) *Statement { return s.list(b, items) }

// Custom begins a statement with what [Statement.Custom] adds.
func Custom(b Brackets, items ...*Statement) *Statement { return new(Statement).Custom(b, items...) }

// list adds items between brackets. A list without brackets and without items
// adds nothing.
func (s *Statement) list(b Brackets, items []*Statement) *Statement {
	begun := b.Open != "" || b.Close != "" || b.Lines
	if begun {
		s.word(b.Open)
	}
	first := true
	for _, item := range items {
		if item.null() {
			continue
		}
		switch {
		case !first:
			s.text = append(s.text, b.Separator...)
		case !begun:
			s.start()
		}
		first = false
		if b.Lines {
			s.text = append(s.text, '\n')
		}
		s.copy(item)
	}
	if b.Lines && !first && b.Close != "" {
		// What closes has a line of its own: the last item may end with a comment.
		if b.Separator == "," {
			s.text = append(s.text, ',')
		}
		s.text = append(s.text, '\n')
	}
	s.text = append(s.text, b.Close...)
	return s
}

// listFunc adds what fill puts into a group between brackets.
func (s *Statement) listFunc(b Brackets, fill func(*Group)) *Statement {
	var g Group
	fill(&g)
	return s.list(b, g.items)
}
