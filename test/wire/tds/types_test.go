package tds_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/golang-sql/civil"
	mssql "github.com/microsoft/go-mssqldb"

	"github.com/qgen-dev/qgen/test/wire/check"
	"github.com/qgen-dev/qgen/test/wire/tds"
)

var (
	east   = time.FixedZone("", 2*3600)
	west   = time.FixedZone("", -(9*3600 + 1800))
	exact  = time.Date(2024, 2, 29, 23, 59, 58, 123456700, time.UTC)
	noon   = time.Date(2025, 7, 1, 12, 0, 0, 0, time.UTC)
	uuid   = mssql.UniqueIdentifier{0x6f, 0x96, 0x19, 0xff, 0x8b, 0x86, 0xd0, 0x11, 0xb4, 0x2d, 0x00, 0xc0, 0x4f, 0xc9, 0x64, 0xff}
	wire   = []byte{0xff, 0x19, 0x96, 0x6f, 0x86, 0x8b, 0x11, 0xd0, 0xb4, 0x2d, 0x00, 0xc0, 0x4f, 0xc9, 0x64, 0xff} // uuid as SQL Server sends it
	long   = strings.Repeat("a long text, ", 2000)
	allMax = strings.Repeat("9", 38)
)

// TestColumns sends a value of each type and scans it: what comes, its type, and
// NULL in its place.
func TestColumns(t *testing.T) {
	tests := []struct {
		column string
		value  any
		want   any // as the driver gives it, of the type that is scanned into
	}{
		{"tinyint", 255, int64(255)},
		{"smallint", -32768, int64(-32768)},
		{"int", int32(math.MinInt32), int64(math.MinInt32)},
		{"bigint", int64(math.MinInt64), int64(math.MinInt64)},
		{"bigint", uint(math.MaxInt64), int64(math.MaxInt64)},
		{"bit", true, true},
		{"bit", sql.NullBool{Valid: true}, false},
		{"real", 1.5, 1.5},
		{"float", math.Pi, math.Pi},
		{"float", 3, 3.0},
		{"decimal(5,2)", "-123.45", "-123.45"},
		{"decimal", 7, "7"},
		{"decimal(19,19)", "0.0000000000000000001", "0.0000000000000000001"},
		{"numeric(28, 0)", "0", "0"},
		{"numeric(38, 0)", allMax, allMax},
		{"money", "-922337203685477.5808", "-922337203685477.5808"},
		{"money", "0.0001", "0.0001"},
		{"smallmoney", "214748.3647", "214748.3647"},
		{"uniqueidentifier", uuid, uuid},
		{"uniqueidentifier", uuid.String(), uuid},
		{"uniqueidentifier", tds.GUID(uuid), wire},
		{"uniqueidentifier", mssql.NullUniqueIdentifier{UUID: uuid, Valid: true}, uuid},
		{"date", exact, time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
		{"date", time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"time", exact, time.Date(1, 1, 1, 23, 59, 58, 123456700, time.UTC)},
		{"time(0)", exact, time.Date(1, 1, 1, 23, 59, 58, 0, time.UTC)},
		{"datetime2", exact, exact},
		{"datetime2(7)", exact.In(west), time.Date(2024, 2, 29, 14, 29, 58, 123456700, time.UTC)},
		{"datetime2(4)", exact, exact.Truncate(100 * time.Microsecond)},
		{"datetime2(2)", exact, exact.Truncate(10 * time.Millisecond)},
		{"datetime2(0)", time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)},
		{"datetimeoffset", exact.In(east), exact.In(east)},
		{"datetimeoffset(3)", exact.In(west), exact.Truncate(time.Millisecond).In(west)},
		{"datetime", exact, exact.Truncate(time.Millisecond)},
		{"datetime", noon.Add(5 * time.Millisecond), noon.Add(7 * time.Millisecond)}, // 1/300 s
		{"datetime", noon.Add(-time.Nanosecond), noon},
		{"datetime", time.Date(1753, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1753, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"datetime", time.Date(1850, 5, 5, 13, 0, 0, 0, time.UTC), time.Date(1850, 5, 5, 13, 0, 0, 0, time.UTC)},
		{"smalldatetime", noon.Add(29 * time.Second), noon},
		{"smalldatetime", noon.Add(30 * time.Second), noon.Add(time.Minute)},
		{"char(3)", "é", "é  "},
		{"varchar(3)", "é", "é"},
		{"varchar(max)", long, long},
		{"nchar(3)", "☃", "☃  "},
		{"nvarchar(2)", "😀", "😀"},
		{"nvarchar", "x", "x"},
		{"nvarchar(max)", long + "☃", long + "☃"},
		{"nvarchar(max)", "", ""},
		{"binary(3)", []byte{1}, []byte{1, 0, 0}},
		{"varbinary(3)", []byte{}, []byte{}},
		{"varbinary(8000)", bytes.Repeat([]byte{7}, 8000), bytes.Repeat([]byte{7}, 8000)},
		{"varbinary(max)", []byte(long), []byte(long)},
	}
	s := tds.Start(t)
	db := open(t, s, "")
	for _, test := range tests {
		s.Expect(tds.Query("SELECT a, b FROM t").Rows(tds.Columns("a "+test.column, "b "+test.column),
			tds.Row{test.value, test.value}, tds.Row{test.value, nil}))
		t.Run(test.column, func(t *testing.T) {
			rows, err := db.Query("SELECT a, b FROM t")
			check.Err(t, err)
			defer rows.Close()
			wantColumn(t, rows, test.column)
			for first := true; rows.Next(); first = false {
				kind := reflect.TypeOf(test.want)
				a, b := reflect.New(kind), reflect.New(reflect.PointerTo(kind))
				check.Err(t, rows.Scan(a.Interface(), b.Interface()))
				if !same(a.Elem().Interface(), test.want) {
					t.Errorf("%v comes as %v, want %v", test.value, a.Elem(), test.want)
				}
				if null := b.Elem().IsNil(); null == first {
					t.Errorf("a value is %v, where NULL is %v", b.Elem(), !first)
				} else if first && !same(b.Elem().Elem().Interface(), test.want) {
					t.Errorf("%v comes as %v, want %v", test.value, b.Elem().Elem(), test.want)
				}
			}
			check.Err(t, rows.Err())
		})
	}
}

// same compares times with their offsets, and everything else as it is.
func same(a, b any) bool {
	if x, ok := a.(time.Time); ok {
		_, xEast := x.Zone()
		y := b.(time.Time)
		_, yEast := y.Zone()
		return x.Equal(y) && xEast == yEast
	}
	return reflect.DeepEqual(a, b)
}

// wantColumn compares what the driver reads of a type with its declaration.
func wantColumn(t *testing.T, rows *sql.Rows, declared string) {
	t.Helper()
	columns, err := rows.ColumnTypes()
	check.Err(t, err)
	name, inside, _ := strings.Cut(strings.TrimSuffix(declared, ")"), "(")
	name = strings.ToUpper(strings.Replace(name, "numeric", "decimal", 1))
	if got := columns[0].DatabaseTypeName(); got != name {
		t.Errorf("%s: the driver reads %s", declared, got)
	}
	if nullable, ok := columns[0].Nullable(); !nullable || !ok {
		t.Errorf("%s cannot be NULL", declared)
	}
	if precision, scale, ok := columns[0].DecimalSize(); name == "DECIMAL" && inside != "" {
		if got := fmt.Sprintf("%d,%d", precision, scale); !ok || got != strings.ReplaceAll(inside, " ", "") {
			t.Errorf("%s: the driver reads %s", declared, got)
		}
	}
	if length, ok := columns[0].Length(); ok && inside != "" {
		most := map[string]string{"max": "2147483645"}
		if strings.HasPrefix(name, "N") {
			most["max"] = "1073741822"
		}
		if want := most[inside]; want == "" {
			most[inside] = inside
		}
		if fmt.Sprint(length) != most[inside] {
			t.Errorf("%s: the driver reads a length of %d", declared, length)
		}
	}
}

// TestNullTypes scans NULL and values into the types of database/sql and the driver.
func TestNullTypes(t *testing.T) {
	s := tds.Start(t)
	s.Expect(tds.Query("SELECT nulls").Rows(
		tds.Columns("a int", "b nvarchar(5)", "c bit", "d float", "e datetime2(7)", "f uniqueidentifier", "g varbinary(5)", "h date", "i bigint"),
		tds.Row{1, "b", true, 0.5, exact, uuid, []byte("g"), exact, 9}, make(tds.Row, 9)))
	rows, err := open(t, s, "").Query("SELECT nulls")
	check.Err(t, err)
	defer rows.Close()
	for want := true; rows.Next(); want = false {
		var a sql.NullInt32
		var b sql.NullString
		var c sql.NullBool
		var d sql.NullFloat64
		var e sql.NullTime
		var f mssql.NullUniqueIdentifier
		var g sql.Null[[]byte]
		var h mssql.NullDate
		var i sql.NullInt64
		check.Err(t, rows.Scan(&a, &b, &c, &d, &e, &f, &g, &h, &i))
		for n, valid := range []bool{a.Valid, b.Valid, c.Valid, d.Valid, e.Valid, f.Valid, g.Valid, h.Valid, i.Valid} {
			if valid != want {
				t.Errorf("column %d: valid is %v", n+1, valid)
			}
		}
		if want && (a.Int32 != 1 || b.String != "b" || !c.Bool || d.Float64 != 0.5 || !e.Time.Equal(exact) || f.UUID != uuid ||
			string(g.V) != "g" || h.Date != civil.DateOf(exact) || i.Int64 != 9) {
			t.Error(a, b, c, d, e, f, g, h, i)
		}
	}
	check.Err(t, rows.Err())
}

// TestParams lets the driver send a value of each Go type that it knows.
func TestParams(t *testing.T) {
	ns := exact.Add(99) // less than SQL Server keeps
	tests := []struct {
		arg      any
		wantType string
		want     any
	}{
		{int64(math.MinInt64), "bigint", int64(math.MinInt64)},
		{1, "bigint", int64(1)},
		{int32(-1), "int", int64(-1)},
		{int16(-2), "smallint", int64(-2)},
		{byte(200), "tinyint", int64(200)},
		{uint32(7), "bigint", int64(7)},
		{1.5, "float", 1.5},
		{float32(1.5), "real", 1.5},
		{true, "bit", true},
		{false, "bit", false},
		{"é☃😀", "nvarchar(4)", "é☃😀"},
		{"", "nvarchar(max)", ""},
		{long, "nvarchar(max)", long},
		{strings.Repeat("x", 4000), "nvarchar(4000)", strings.Repeat("x", 4000)},
		{strings.Repeat("x", 4001), "nvarchar(max)", strings.Repeat("x", 4001)},
		{mssql.VarChar("abc"), "varchar(3)", "abc"},
		{mssql.VarChar("é"), "varchar(2)", "é"}, // in UTF-8, whatever the server takes it for
		{mssql.VarCharMax("abc"), "varchar(max)", "abc"},
		{mssql.NVarCharMax("é"), "nvarchar(max)", "é"},
		{mssql.NChar("é"), "nchar(1)", "é"},
		{[]byte{1, 2}, "varbinary(2)", []byte{1, 2}},
		{[]byte{}, "varbinary(max)", []byte{}},
		{[]byte(nil), "varbinary(max)", nil},
		{[]byte(long), "varbinary(max)", []byte(long)},
		{ns.In(west), "datetimeoffset(7)", exact.In(west)},
		{mssql.DateTimeOffset(exact), "datetimeoffset(7)", exact},
		{mssql.DateTime1(noon.Add(5 * time.Millisecond)), "datetime", noon.Add(2 * time.Second / 300)},
		{civil.DateOf(exact), "date", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
		{civil.DateTimeOf(exact), "datetime2(7)", exact},
		{civil.TimeOf(exact), "time", time.Date(1, 1, 1, 23, 59, 58, 123456700, time.UTC)},
		{uuid, "uniqueidentifier", tds.GUID(uuid)},
		{mssql.NullUniqueIdentifier{UUID: uuid, Valid: true}, "uniqueidentifier", tds.GUID(uuid)},
		{nil, "nvarchar(1)", nil},
		{(*int64)(nil), "nvarchar(1)", nil},
		{sql.NullInt64{Int64: 3, Valid: true}, "bigint", int64(3)},
		{sql.NullInt64{}, "bigint", nil},
		{sql.NullInt32{}, "int", nil},
		{sql.NullInt16{}, "smallint", nil},
		{sql.NullByte{}, "tinyint", nil},
		{sql.NullString{String: "a", Valid: true}, "nvarchar(1)", "a"},
		{sql.NullString{}, "nvarchar(4000)", nil},
		{sql.NullBool{}, "bit", nil},
		{sql.NullFloat64{}, "float", nil},
		{sql.NullTime{Time: exact, Valid: true}, "datetimeoffset(7)", exact},
		{sql.NullTime{}, "datetimeoffset(7)", nil},
		{sql.Null[int64]{}, "nvarchar(1)", nil},
		{mssql.NullDate{}, "date", nil},
		{mssql.NullDateTime{}, "datetime2(7)", nil},
		{mssql.NullTime{}, "time", nil},
	}
	s := tds.Start(t)
	db := open(t, s, "")
	for _, test := range tests {
		// The argument that is expected is written as the one that is sent.
		expected := test.arg
		switch expected.(type) {
		case civil.Date, civil.DateTime, civil.Time: // a script says time.Time
			expected = test.want
		}
		s.Expect(tds.Query("SELECT @p1, @q", expected, tds.Param{Name: "@q", Type: "nvarchar(1)", Value: "q"}))
		_, err := db.Exec("SELECT @p1, @q", test.arg, sql.Named("q", "q"))
		check.Err(t, err)

		var got tds.Request
		s.Handle(func(r tds.Request) tds.Response {
			got = r
			return tds.Answer()
		})
		_, err = db.Exec("SELECT @p1, @q", test.arg, sql.Named("q", "q"))
		check.Err(t, err)
		if p := got.Params[0]; p.Name != "@p1" || p.Type != test.wantType || !sameParam(p.Value, test.want) {
			t.Errorf("%T %v: got %s, want %s %v", test.arg, test.arg, p, test.wantType, test.want)
		}
	}
}

func sameParam(a, b any) bool {
	if _, ok := b.(time.Time); ok && a != nil {
		return same(a, b)
	}
	return reflect.DeepEqual(a, b)
}

// TestWrongRows are values that a column cannot have.
func TestWrongRows(t *testing.T) {
	tests := []struct {
		column string
		value  any
		want   string
	}{
		{"tinyint", -1, "-1 does not fit into 1 bytes"},
		{"tinyint", 256, "256 does not fit into 1 bytes"},
		{"int", math.MaxInt32 + 1, "2147483648 does not fit into 4 bytes"},
		{"bigint", uint64(math.MaxUint64), "18446744073709551615 does not fit any integer"},
		{"int", "1", "a string does not fit"},
		{"bit", 1, "a int64 does not fit"},
		{"nvarchar(2)", "abc", "6 bytes do not fit into 4"},
		{"varchar(2)", "☃", `'☃' is not in the part of code page 1252 that this server knows`},
		{"nvarchar(2)", []byte("a"), "a []uint8 does not fit"},
		{"varbinary(2)", "a", "a string does not fit"},
		{"varbinary(2)", []byte("abc"), "3 bytes do not fit into 2"},
		{"decimal(3,1)", "1.25", "1.25 has more than 1 digits after the point"},
		{"decimal(3,1)", "100", "100 has more than 3 digits"},
		{"decimal(3,1)", "x", `"x" is no number`},
		{"money", "922337203685477.5808", "922337203685477.5808 is too much money"},
		{"uniqueidentifier", "6F9619FF", `"6F9619FF" is no uniqueidentifier`},
		{"datetime", time.Date(1752, 12, 31, 0, 0, 0, 0, time.UTC), "is no datetime"},
		{"smalldatetime", time.Date(1899, 12, 31, 0, 0, 0, 0, time.UTC), "is no smalldatetime"},
		{"datetime2", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "the year 10000 is not one of SQL Server"},
		{"datetimeoffset", exact.In(time.FixedZone("", 30)), "is not whole minutes from UTC"},
		{"int", exact, "a time.Time does not fit"},
		{"int", struct{}{}, "no SQL type takes a struct {}"},
		{"xml", "<a/>", `"xml" is no type that this server knows`},
		{"int(4)", 1, `"int(4)" is no type that this server knows`},
		{"nvarchar(4001)", "", `"nvarchar(4001)" is no type that this server knows`},
		{"nchar(max)", "", `"nchar(max)" is no type that this server knows`},
		{"decimal(39)", 1, `"decimal(39)" is no type that this server knows`},
		{"decimal(3,4)", 1, `"decimal(3,4)" is no type that this server knows`},
		{"datetime2(8)", exact, `"datetime2(8)" is no type that this server knows`},
		{"datetime2(max)", exact, `"datetime2(max)" is no type that this server knows`},
		{"", 1, `"" is no type that this server knows`},
	}
	for _, test := range tests {
		failures := check.Failures(t, func(r testing.TB) {
			tds.Start(r).Expect(tds.Query("SELECT").Rows(tds.Columns("a "+test.column), tds.Row{test.value}))
		})
		wantFailures(t, failures, test.want)
	}
	failures := check.Failures(t, func(r testing.TB) {
		tds.Start(r).Expect(tds.Query("SELECT").Rows(tds.Columns("a int", "b int"), tds.Row{1, 2}, tds.Row{1}))
	})
	wantFailures(t, failures, "row 2 has 1 values for 2 columns")
}
