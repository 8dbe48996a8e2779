package schema

// This file knows PostgreSQL's types: those that are built in, and the enums,
// domains and composite types that a schema makes.

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/qgen-dev/qgen/internal/source"
)

// pgBuiltin is what the catalog's names of types mean.
var pgBuiltin = map[string]Type{
	"int2":        {Name: "smallint", Class: Int, Bits: 16},
	"int4":        {Name: "integer", Class: Int, Bits: 32},
	"int8":        {Name: "bigint", Class: Int, Bits: 64},
	"oid":         {Name: "oid", Class: Int, Bits: 64}, // 32 bits without sign
	"float4":      {Name: "real", Class: Float, Bits: 32},
	"float8":      {Name: "double precision", Class: Float, Bits: 64},
	"numeric":     {Name: "numeric", Class: Decimal, Scale: AnyScale},
	"bool":        {Name: "boolean", Class: Bool},
	"text":        {Name: "text", Class: Text},
	"varchar":     {Name: "varchar", Class: Text},
	"bpchar":      {Name: "bpchar", Class: Text}, // with a length: char
	"char":        {Name: `"char"`, Class: Text, Length: 1},
	"name":        {Name: "name", Class: Text, Length: maxName},
	"citext":      {Name: "citext", Class: Text},
	"bytea":       {Name: "bytea", Class: Bytes},
	"timestamptz": {Name: "timestamptz", Class: Timestamp, Zone: true, Step: time.Microsecond},
	"timestamp":   {Name: "timestamp", Class: Timestamp, Step: time.Microsecond},
	"date":        {Name: "date", Class: Date},
	"time":        {Name: "time", Class: TimeOfDay, Step: time.Microsecond},
	"timetz":      {Name: "timetz", Class: TimeOfDay, Zone: true, Step: time.Microsecond},
	"interval":    {Name: "interval", Class: Interval},
	"uuid":        {Name: "uuid", Class: UUID},
	"json":        {Name: "json", Class: JSON},
	"jsonb":       {Name: "jsonb", Class: JSON},
}

// pgSerial is what the types mean that are none.
var pgSerial = map[string]string{
	"smallserial": "int2", "serial2": "int2",
	"serial": "int4", "serial4": "int4",
	"bigserial": "int8", "serial8": "int8",
}

type pgKind uint8

const (
	pgOther pgKind = iota
	pgEnum
	pgDomain
	pgComposite
)

// pgType is a type that the schema makes.
type pgType struct {
	schema, name string
	kind         pgKind
	values       []string   // of an enum
	base         *pgTypeUse // of a domain
	notNull      bool
	hasDefault   bool
	defaultText  string
	checks       []*check    // of a domain, about the column "value"
	attributes   []attribute // of a composite
}

// An attribute is a part of a composite type.
type attribute struct {
	name string
	pos  source.Pos
	use  *pgTypeUse
}

// pgTypeUse is a type as a column or domain names it. It is resolved when all
// files are read, since values may be added to an enum later.
type pgTypeUse struct {
	raw          string
	schema, name string
	path         []string // search_path at that place
	array        bool
	length       int  // of the first modifier, 0 without
	scale        int  // the second one, 0 without
	modified     bool // there is one
}

// pgTypes is what a grammar calls its types.
type pgTypes struct {
	builtin map[string]Type   // by the catalog's name
	spelled map[string]string // by a word of the grammar: the catalog's name, where it is not PostgreSQL's
	serial  map[string]string // by what is no type: the catalog's name of the type that it means
}

var postgresqlTypes = pgTypes{builtin: pgBuiltin, serial: pgSerial}

// use reads a type that stands in the tokens up to end.
func (p *postgresql) use(n *pgTypeName, end int) *pgTypeUse {
	start := p.index(n.GetLocation())
	for i := start + 1; i < end; i++ {
		if p.st.is(i, "storage", "compression", "options") {
			end = i
		}
	}
	u := &pgTypeUse{raw: p.st.written(start, end), path: p.path, array: len(n.GetArrayBounds()) > 0}
	u.schema, u.name = pgName(n.GetNames())
	if !p.st.is(start+1, ".") {
		u.name = cmp.Or(p.server.types.spelled[strings.ToLower(p.st.text(start))], u.name)
	}
	if mods := n.GetTypmods(); len(mods) > 0 {
		u.length, u.modified = int(mods[0].GetAConst().GetIval().GetIval()), true
		if len(mods) > 1 {
			u.scale = int(mods[1].GetAConst().GetIval().GetIval())
		}
	}
	return u
}

// setType gives a column its type, which stands in the tokens up to end.
func (p *postgresql) setType(c *Column, n *pgTypeName, end int) {
	u := p.use(n, end)
	if base, ok := p.server.types.serial[u.name]; ok && u.schema == "" && !u.array {
		u.schema, u.name = "pg_catalog", base
		p.setSerial(c)
		c.NotNull = true
	}
	p.uses[c] = u
}

// addType adds a type under its name.
func (p *postgresql) addType(names []*pgNode, t *pgType) {
	t.schema, t.name = pgName(names)
	t.schema = p.newIn(t.schema)
	p.types = append(p.types, t)
}

func (p *postgresql) findType(schema, name string) *pgType {
	return p.findTypeIn(schema, name, p.path)
}

// findTypeIn returns the type of that name, nil when the files make none.
func (p *postgresql) findTypeIn(schema, name string, path []string) *pgType {
	schemas := []string{schema}
	switch schema {
	case "":
		schemas = append(slices.Clone(path), "", "public")
	case "public":
		schemas = []string{"public", ""}
	}
	for _, s := range schemas {
		for _, t := range slices.Backward(p.types) {
			if t.schema == s && t.name == name {
				return t
			}
		}
	}
	if schema == "" {
		for _, t := range slices.Backward(p.types) {
			if t.name == name {
				return t
			}
		}
	}
	return nil
}

func (p *postgresql) alterEnum(n *pgAlterEnumStmt) {
	t := p.findType(pgName(n.GetTypeName()))
	if t == nil {
		return
	}
	value, old := n.GetNewVal(), n.GetOldVal()
	if old != "" {
		if i := slices.Index(t.values, old); i >= 0 {
			t.values[i] = value
		}
		return
	}
	if slices.Contains(t.values, value) {
		return
	}
	i := slices.Index(t.values, n.GetNewValNeighbor())
	switch {
	case i < 0:
		i = len(t.values)
	case n.GetNewValIsAfter():
		i++
	}
	t.values = slices.Insert(t.values, i, value)
}

// createDomain reads CREATE DOMAIN name AS type ….
func (p *postgresql) createDomain(n *pgCreateDomainStmt) {
	var starts []int
	for _, k := range n.GetConstraints() {
		starts = append(starts, p.index(k.GetConstraint().GetLocation()))
	}
	if n.GetCollClause() != nil {
		starts = append(starts, p.index(n.GetCollClause().GetLocation()))
	}
	until := func(i int) int {
		stop := len(p.st.tokens)
		for _, s := range starts {
			if s > i && s < stop {
				stop = s
			}
		}
		return stop
	}
	t := &pgType{kind: pgDomain, base: p.use(n.GetTypeName(), until(p.index(n.GetTypeName().GetLocation())))}
	for _, k := range n.GetConstraints() {
		p.domainConstraint(t, k.GetConstraint(), until)
	}
	p.addType(n.GetDomainname(), t)
}

func (p *postgresql) domainConstraint(t *pgType, k *pgConstraint, until func(int) int) {
	i := p.index(k.GetLocation())
	if p.st.is(i, "constraint") {
		i += 2
	}
	switch k.GetContype() {
	case pgConstrNotnull:
		t.notNull = true
	case pgConstrDefault:
		t.hasDefault, t.defaultText = true, p.st.written(i+1, until(i))
	case pgConstrCheck:
		t.checks = append(t.checks, &check{name: k.GetConname(), values: pgValues(k.GetRawExpr())})
	}
}

// alterDomain reads ALTER DOMAIN; the letters are the parser's.
func (p *postgresql) alterDomain(n *pgAlterDomainStmt) {
	t := p.findType(pgName(n.GetTypeName()))
	if t == nil {
		return
	}
	switch n.GetSubtype() {
	case "T": // SET DEFAULT, DROP DEFAULT
		i := slices.IndexFunc(p.st.tokens, func(t token) bool { return strings.EqualFold(p.st.script.textOf(t), "default") })
		t.hasDefault, t.defaultText = n.GetDef() != nil, p.st.written(i+1, len(p.st.tokens))
	case "N":
		t.notNull = false
	case "O":
		t.notNull = true
	case "C":
		p.domainConstraint(t, n.GetDef().GetConstraint(), func(int) int { return len(p.st.tokens) })
	case "X":
		t.checks = slices.DeleteFunc(t.checks, func(k *check) bool { return k.name == n.GetName() })
	}
}

// createComposite reads CREATE TYPE name AS (…).
func (p *postgresql) createComposite(n *pgCompositeTypeStmt) {
	t := &pgType{kind: pgComposite, schema: p.newIn(n.GetTypevar().GetSchemaname()), name: n.GetTypevar().GetRelname()}
	open := p.relation(n.GetTypevar()) + 2 // behind AS
	items := p.st.items(open+1, p.st.closing(open))
	for i, node := range n.GetColdeflist() {
		if def := node.GetColumnDef(); i < len(items) {
			t.attributes = append(t.attributes, attribute{
				def.GetColname(), p.st.pos(items[i][0]), p.use(def.GetTypeName(), items[i][1]),
			})
		}
	}
	p.types = append(p.types, t)
}

// addAttributes gives a table OF a composite type its columns.
func (p *postgresql) addAttributes(t *draft, names []*pgNode, location int32) {
	schema, name := pgName(names)
	of := p.findType(schema, name)
	if of == nil || of.kind != pgComposite {
		t.Gaps = append(t.Gaps, source.Errorf(p.st.pos(p.st.qualified(p.index(location))), "table %s takes columns from the type %s, which is not in the files", t.Name, name).
			WithHint("Let the file that defines %s stand before this one.", name))
		return
	}
	for _, a := range of.attributes {
		c := &Column{Name: a.name, Pos: a.pos}
		p.uses[c] = a.use
		t.Columns = append(t.Columns, c)
	}
}

// resolveTypes fills the types of all columns.
func (p *postgresql) resolveTypes() {
	for _, t := range p.tables {
		for _, c := range t.Columns {
			c.Type = Type{Class: Unknown}
			if u := p.uses[c]; u != nil {
				p.resolve(c, u, 0)
				c.Type.Raw = u.raw
			}
		}
	}
}

// resolve fills what a use of a type says of a column. A domain passes on what
// it is made of.
func (p *postgresql) resolve(c *Column, u *pgTypeUse, depth int) {
	if builtin, ok := p.server.types.builtin[u.name]; ok && (u.schema == "" || u.schema == "pg_catalog" || u.name == "citext") {
		domain := c.Type.Domain
		array := c.Type.Array
		c.Type = builtin
		c.Type.Domain, c.Type.Array = domain, array || u.array
		switch {
		case u.name == "bpchar" && u.length > 0:
			c.Type.Name, c.Type.Length = "char", u.length
		case builtin.Class == Text && u.modified:
			c.Type.Length = u.length
		case builtin.Class == Decimal && u.modified:
			c.Type.Digits, c.Type.Scale = u.length, u.scale
		case builtin.Step > 0 && u.modified:
			c.Type.Step = stepOf(u.length)
		}
		return
	}
	t := p.findTypeIn(u.schema, u.name, u.path)
	c.Type.Array = c.Type.Array || u.array
	switch {
	case t == nil || depth > maxDomains:
		c.Type.Name, c.Type.Schema, c.Type.Class = pgFold(u.name), u.schema, Unknown
		if u.schema == "pg_catalog" {
			c.Type.Schema = ""
		}
	case t.kind == pgEnum:
		c.Type.Name, c.Type.Schema, c.Type.Class, c.Type.Enum = t.name, t.schema, Text, true
		if !c.Type.Array {
			c.Values = slices.Clone(t.values)
		}
	case t.kind == pgDomain:
		if c.Type.Domain == "" {
			c.Type.Domain = t.name
		}
		c.NotNull = c.NotNull || t.notNull
		if t.hasDefault && !c.HasDefault && !c.Generated {
			c.HasDefault, c.Default = true, t.defaultText
		}
		schema := t.schema
		p.resolve(c, t.base, depth+1)
		if c.Type.Schema == "" {
			c.Type.Schema = schema
		}
		if !c.Type.Array {
			for _, k := range t.checks {
				if values, ok := k.values["value"]; ok {
					c.Values = narrow(c.Values, values)
				}
			}
		}
	default:
		c.Type.Name, c.Type.Schema, c.Type.Class = t.name, t.schema, Unknown
	}
}

// maxDomains is how many domains are followed that are made of domains.
const maxDomains = 20
