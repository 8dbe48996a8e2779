package schema

// This file finds the values that a PostgreSQL check allows.

import (
	"strconv"
	"strings"
)

// pgValues returns, for each column that the check holds to a list of literals,
// that list. It knows the forms people write and those pg_dump makes of them.
func pgValues(e *pgNode) map[string][]string {
	switch {
	case e.GetBoolExpr() != nil:
		b := e.GetBoolExpr()
		var joined map[string][]string
		for i, arg := range b.GetArgs() {
			values := pgValues(arg)
			switch {
			case b.GetBoolop() == pgAndExpr:
				joined = bothValues(joined, values)
			case b.GetBoolop() != pgOrExpr:
				return nil
			case i == 0:
				joined = values
			default:
				joined = eitherValues(joined, values)
			}
		}
		return joined
	case e.GetNullTest() != nil:
		if column := pgColumn(e.GetNullTest().GetArg()); column != "" && e.GetNullTest().GetNulltesttype() == pgIsNull {
			return map[string][]string{column: nil}
		}
	case e.GetAExpr() != nil:
		return pgCompared(e)
	}
	return nil
}

// pgCompared reads c IN (…), c = ANY (…), c = v and v = c.
func pgCompared(e *pgNode) map[string][]string {
	a := e.GetAExpr()
	if _, op := pgName(a.GetName()); op != "=" {
		return nil
	}
	column, list := pgColumn(a.GetLexpr()), a.GetRexpr()
	var items []*pgNode
	switch a.GetKind() {
	case pgExprIn:
		items = list.GetList().GetItems()
	case pgExprOpAny:
		for list.GetTypeCast() != nil {
			list = list.GetTypeCast().GetArg()
		}
		if list.GetAArrayExpr() == nil {
			return pgArrayText(column, list)
		}
		items = list.GetAArrayExpr().GetElements()
	case pgExprOp:
		if column == "" {
			column, list = pgColumn(a.GetRexpr()), a.GetLexpr()
		}
		items = []*pgNode{list}
	default:
		return nil
	}
	if column == "" {
		return nil
	}
	var values []string
	for _, item := range items {
		v, null, ok := pgLiteral(item)
		if !ok {
			return nil
		}
		if !null {
			values = append(values, v)
		}
	}
	return map[string][]string{column: values}
}

// pgArrayText reads c = ANY ('{a,b}'), in which nothing is quoted.
func pgArrayText(column string, list *pgNode) map[string][]string {
	s := list.GetAConst().GetSval().GetSval()
	if column == "" || !strings.HasPrefix(s, "{") || !strings.HasSuffix(s, "}") || strings.ContainsAny(s, `"\`) {
		return nil
	}
	return map[string][]string{column: strings.Split(s[1:len(s)-1], ",")}
}

// pgColumn returns the column that e is, through casts and collations.
func pgColumn(e *pgNode) string {
	switch {
	case e.GetTypeCast() != nil:
		return pgColumn(e.GetTypeCast().GetArg())
	case e.GetCollateClause() != nil:
		return pgColumn(e.GetCollateClause().GetArg())
	}
	return pgLastField(e)
}

// pgLastField returns the last name of a reference, "" when e is none.
func pgLastField(e *pgNode) string {
	fields := e.GetColumnRef().GetFields()
	if len(fields) == 0 {
		return ""
	}
	return fields[len(fields)-1].GetString_().GetSval()
}

// pgLiteral returns what a literal stands for, through casts.
func pgLiteral(e *pgNode) (value string, null, ok bool) {
	if c := e.GetTypeCast(); c != nil {
		return pgLiteral(c.GetArg())
	}
	if a := e.GetAExpr(); a != nil && a.GetKind() == pgExprOp && a.GetLexpr() == nil {
		if _, op := pgName(a.GetName()); op == "-" {
			value, null, ok = pgLiteral(a.GetRexpr())
			return "-" + value, null, ok && !null
		}
	}
	c := e.GetAConst()
	switch {
	case c == nil:
		return "", false, false
	case c.GetIsnull():
		return "", true, true
	case c.GetSval() != nil:
		return c.GetSval().GetSval(), false, true
	case c.GetFval() != nil:
		return c.GetFval().GetFval(), false, true
	case c.GetBoolval() != nil:
		return strconv.FormatBool(c.GetBoolval().GetBoolval()), false, true
	case c.GetBsval() != nil:
		return "", false, false
	}
	return strconv.Itoa(int(c.GetIval().GetIval())), false, true
}
