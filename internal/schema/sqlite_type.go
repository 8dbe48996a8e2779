package schema

// This file tells what SQLite's declared types hold and which values a check
// allows.

import (
	"slices"
	"strings"

	"github.com/sqlc-dev/meyer/ast"
)

// sqliteClasses is tried first, by the first word of the declared type; what
// is not here goes by the rules of affinity.
var sqliteClasses = map[string]Class{
	"bool": Bool, "boolean": Bool,
	"datetime": Timestamp, "timestamp": Timestamp, "timestamptz": Timestamp,
	"date": Date, "time": TimeOfDay,
	"json": JSON, "jsonb": JSON,
	"uuid": UUID, "guid": UUID,
	"decimal": Decimal, "numeric": Decimal,
	"any": Unknown,
}

// sqliteType reads a declared type; n is nil where the column has none. Lengths
// mean nothing to SQLite, and no type knows its zone.
func sqliteType(n *ast.TypeName) Type {
	if n == nil {
		return Type{Class: Unknown, Loose: true}
	}
	// The parser counts GENERATED ALWAYS as words of the type, as SQLite does.
	name := strings.Fields(n.Name)
	raw := n.Raw
	if k := len(name); k >= 2 && strings.EqualFold(name[k-2], "generated") && strings.EqualFold(name[k-1], "always") {
		name = name[:k-2]
		raw = ""
		if k > 2 {
			raw = strings.TrimSpace(n.Raw[:strings.LastIndex(strings.ToLower(n.Raw), "generated")])
		}
	}
	t := Type{Raw: strings.Join(strings.Fields(raw), " "), Name: strings.ToLower(strings.Join(name, " ")), Class: Unknown, Loose: true}
	if t.Name == "" {
		return t
	}
	t.Name = strings.Trim(t.Name, "\"`[]")
	first, _, _ := strings.Cut(t.Name, " ")
	contains := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(t.Name, p) })
	}
	class, known := sqliteClasses[first]
	switch {
	case known:
		t.Class = class
		if class == Decimal {
			t.Scale = AnyScale
		}
	case contains("int"):
		t.Class, t.Bits = Int, 64
	case contains("char", "clob", "text"):
		t.Class = Text
	case contains("blob"):
		t.Class = Bytes
	case contains("real", "floa", "doub"): //nolint:misspell // SQLite's own rule
		t.Class, t.Bits = Float, 64
	}
	return t
}

// sqliteValues returns, for each column that the check holds to a list of
// literals, that list.
func sqliteValues(e ast.Expr) map[string][]string {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return sqliteValues(e.X)
	case *ast.InExpr:
		column, ok := sqliteColumn(e.X)
		if !ok || e.Not || e.Select != nil || e.Table != nil {
			return nil
		}
		var values []string
		for _, item := range e.List {
			v, null, ok := sqliteLiteral(item)
			if !ok {
				return nil
			}
			if !null {
				values = append(values, v)
			}
		}
		return map[string][]string{column: values}
	case *ast.IsExpr:
		if e.Not {
			return nil
		}
		return sqliteEqual(e.X, e.Y)
	case *ast.NullCheckExpr:
		if column, ok := sqliteColumn(e.X); ok && e.Test == ast.TestIsNull {
			return map[string][]string{column: nil}
		}
	case *ast.BinaryExpr:
		switch e.Op {
		case ast.OpEq:
			return sqliteEqual(e.X, e.Y)
		case ast.OpOr:
			return eitherValues(sqliteValues(e.X), sqliteValues(e.Y))
		case ast.OpAnd:
			return bothValues(sqliteValues(e.X), sqliteValues(e.Y))
		}
	}
	return nil
}

func sqliteEqual(x, y ast.Expr) map[string][]string {
	column, ok := sqliteColumn(x)
	if !ok {
		x, y = y, x
		if column, ok = sqliteColumn(x); !ok {
			return nil
		}
	}
	v, null, ok := sqliteLiteral(y)
	switch {
	case !ok:
		return nil
	case null:
		return map[string][]string{column: nil}
	}
	return map[string][]string{column: {v}}
}

func sqliteColumn(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return sqliteColumn(e.X)
	case *ast.CollateExpr:
		return sqliteColumn(e.X)
	case *ast.Ident:
		return e.Name, true
	case *ast.QualifiedRef:
		return e.Parts[len(e.Parts)-1].Name, true
	}
	return "", false
}

// sqliteLiteral returns what a literal stands for.
func sqliteLiteral(e ast.Expr) (value string, null, ok bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return sqliteLiteral(e.X)
	case *ast.CollateExpr:
		return sqliteLiteral(e.X)
	case *ast.Literal:
		switch e.Kind {
		case ast.LitNull:
			return "", true, true
		case ast.LitInteger, ast.LitFloat, ast.LitString:
			return e.Value, false, true
		}
	case *ast.UnaryExpr:
		if lit, isLit := e.X.(*ast.Literal); isLit && (lit.Kind == ast.LitInteger || lit.Kind == ast.LitFloat) {
			switch e.Op {
			case ast.OpMinus:
				return "-" + lit.Value, false, true
			case ast.OpPlus:
				return lit.Value, false, true
			}
		}
	case *ast.Ident:
		if e.Quote == ast.QuoteNone && (strings.EqualFold(e.Name, "true") || strings.EqualFold(e.Name, "false")) {
			return strings.ToLower(e.Name), false, true
		}
	}
	return "", false, false
}

// eitherValues joins what two alternatives allow: a column is held to a list
// only if both hold it to one.
func eitherValues(a, b map[string][]string) map[string][]string {
	joined := map[string][]string{}
	for column, values := range a {
		if more, ok := b[column]; ok {
			joined[column] = values
			for _, v := range more {
				if !slices.Contains(joined[column], v) {
					joined[column] = append(slices.Clip(joined[column]), v)
				}
			}
		}
	}
	return joined
}

// bothValues joins what two conditions allow that hold together.
func bothValues(a, b map[string][]string) map[string][]string {
	joined := map[string][]string{}
	for column, values := range a {
		joined[column] = values
	}
	for column, values := range b {
		joined[column] = narrow(joined[column], values)
	}
	return joined
}
