package schema

// This file reads the domains of 23ai that are about one column.

import (
	"strconv"

	"github.com/qgen-dev/qgen/internal/source"
)

// oracleDomain reads CREATE DOMAIN; the word DOMAIN is token i. Of one over several
// columns, or one that chooses among others, no more is known than its name.
func (r *tolerant) oracleDomain(i int) *source.Error {
	r.i = i + 1
	r.accept("if", "not", "exists")
	n := r.ref()
	r.expect("as")
	if r.fault != nil || r.is("(") {
		return nil
	}
	d := &definition{Column: &Column{Name: n.name}, at: n.at}
	if r.accept("enum") {
		r.oracleEnum(d)
	} else {
		r.columnType(r, d)
	}
	for r.fault == nil && r.i < len(r.st.tokens) {
		if !r.attribute(r, d) {
			r.skip() // STRICT, DISPLAY, ORDER
		}
	}
	if r.fault == nil {
		if r.domains == nil {
			r.domains = map[string]*definition{}
		}
		r.domains[n.name] = d
	}
	return nil
}

// oracleEnum reads the values of a domain that lists them: names, with the numbers
// from 1 on or with what is said behind the sign.
func (r *tolerant) oracleEnum(d *definition) {
	from, to := r.group()
	d.Type = Type{Name: "number", Raw: "NUMBER", Class: Int, Bits: 64}
	last := 0
	for _, item := range r.st.items(from, to) {
		end := item[1] - 1
		value := strconv.Itoa(last + 1)
		if r.has(end, text) || r.has(end, number) {
			value, _, _, _ = r.literalAt(end, item[1])
		}
		if n, err := strconv.Atoi(value); err == nil && !r.has(end, text) {
			last = n
		} else {
			d.Type = Type{Name: "varchar2", Raw: "VARCHAR2", Class: Text}
		}
		d.Values = append(d.Values, value)
	}
}

// ofDomain gives a column what its domain says.
func (r *tolerant) ofDomain(d *definition, name string) {
	if domain := r.domains[name]; domain != nil {
		if d.Type.Raw == "" {
			d.Type = domain.Type
		}
		d.NotNull = d.NotNull || domain.NotNull
		if domain.HasDefault && !d.HasDefault {
			d.HasDefault, d.Default, d.Identity = true, domain.Default, domain.Identity
		}
		d.Values = narrow(d.Values, domain.Values)
		for _, k := range domain.checks {
			if values, ok := k.values["VALUE"]; ok && !k.off {
				d.Values = narrow(d.Values, values)
			}
		}
	}
	d.Type.Domain = name
}
