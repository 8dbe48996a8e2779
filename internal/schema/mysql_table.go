package schema

// This file reads the options of MySQL's tables and the commands of its ALTER
// TABLE that are not about columns, keys and checks.

import (
	"slices"
)

// mysqlOption reads one option of a table.
func mysqlOption(r *tolerant, t *draft) bool {
	switch {
	case r.acceptAny("engine", "type"):
		r.accept("=")
		t.Engine = r.optionName()
	case r.accept("storage", "engine"):
		r.accept("=")
		t.Engine = r.optionName()
	case r.accept("comment"):
		r.storedComment(&t.Comments)
	case r.accept("default", "character", "set"), r.accept("character", "set"), r.accept("char", "set"),
		r.accept("default", "charset"), r.accept("default", "collate"), r.acceptAny("charset", "collate"),
		r.accept("data", "directory"), r.accept("index", "directory"):
		r.value()
	case r.accept("union"):
		r.accept("=")
		r.group()
	case r.accept("with", "system", "versioning"), r.accept("start", "transaction"),
		r.accept("storage", "disk"), r.accept("storage", "memory"):
	case r.accept("partition", "by"):
		r.partitionBy(t)
	case slices.Contains(plainOptions, r.word()):
		r.i++
		r.value()
	default:
		return r.assignment()
	}
	return true
}

// plainOptions may stand in front of their values without a sign between.
var plainOptions = []string{
	"auto_increment", "avg_row_length", "checksum", "compression", "connection", "delay_key_write", "encryption",
	"insert_method", "key_block_size", "max_rows", "min_rows", "pack_keys", "password", "row_format", "tablespace",
	"stats_auto_recalc", "stats_persistent", "stats_sample_pages", "engine_attribute", "secondary_engine_attribute",
	"secondary_engine", "autoextend_size", "page_checksum", "transactional", "sequence",
}

// optionName reads a name that may stand as a text.
func (r *tolerant) optionName() string {
	if r.has(r.i, text) {
		value, _ := textValue(r.st.text(r.i), r.drafts.lexis.escapes)
		r.i++
		return value
	}
	name, _ := r.name()
	return name
}

// partitionBy reads what stands behind PARTITION BY. The partitions themselves
// are left out.
func (r *tolerant) partitionBy(t *draft) {
	t.Partitioned, t.PartitionBy = true, nil
	r.accept("linear")
	kind := r.word()
	r.i++
	switch kind {
	case "hash", "range", "list", "key":
	case "system_time":
		r.restOfPartitions()
		return
	default:
		r.i--
		r.unknown()
		return
	}
	r.accept("columns")
	if r.accept("algorithm") {
		r.value()
	}
	r.partitionColumns(t)
	r.restOfPartitions()
}

// partitionColumns reads the columns that a table is partitioned by.
func (r *tolerant) partitionColumns(t *draft) {
	from, to := r.group()
	var names []string
	for _, item := range r.st.items(from, to) {
		if item[1]-item[0] == 1 && r.isName(item[0]) {
			names = append(names, r.nameAt(r.st, item[0]))
		}
	}
	r.later = append(r.later, func() {
		if from == to && t.PrimaryKey != nil { // KEY () is over the primary key
			for _, c := range t.PrimaryKey.Columns {
				names = append(names, c.Name)
			}
		}
		for _, name := range names {
			if c := t.Column(name); c != nil {
				t.PartitionBy = append(t.PartitionBy, c.Name)
			}
		}
	})
}

// restOfPartitions skips numbers, sub-partitions and the list of partitions.
func (r *tolerant) restOfPartitions() {
	for r.fault == nil && r.i < len(r.st.tokens) && !r.beginsQuery() && !r.is(",") {
		r.skip()
	}
}

// mysqlCommand reads a command of ALTER TABLE that every SQL does not have, or
// has otherwise.
func mysqlCommand(r *tolerant, t *draft) bool {
	switch {
	case r.is("add", "drop", "reorganize", "coalesce", "exchange", "truncate", "analyze", "check", "optimize", "rebuild", "repair", "discard", "import", "convert") &&
		r.st.is(r.i+1, "partition"), r.is("convert") && r.st.is(r.i+1, "table"):
		r.skipCommand()
	case r.is("add", "drop") && r.st.is(r.i+1, "system") && r.st.is(r.i+2, "versioning"):
		r.i += 3
	case r.accept("convert", "to"):
		r.accept("character", "set")
		r.acceptAny("charset")
		r.value()
	case r.accept("order", "by"):
		for r.fault == nil {
			r.name()
			r.acceptAny("asc", "desc")
			// The next command begins behind the same sign.
			if !r.is(",") || !r.isName(r.i+1) || !r.endsItem(r.i+2) {
				break
			}
			r.i++
		}
	case r.is("enable", "disable") && r.st.is(r.i+1, "keys"), r.is("discard", "import") && r.st.is(r.i+1, "tablespace"),
		r.is("remove") && r.st.is(r.i+1, "partitioning"), r.is("with", "without") && r.st.is(r.i+1, "validation"):
		if r.is("remove") {
			r.later = append(r.later, func() { t.Partitioned, t.PartitionBy = false, nil })
		}
		r.i += 2
	case r.acceptAny("force", "nowait", "secondary_load", "secondary_unload"):
	case r.acceptAny("algorithm", "lock", "wait"):
		r.value()
	case r.is("drop", "add", "alter", "rename", "modify", "change"):
		return false
	default:
		return mysqlOption(r, t)
	}
	return true
}

// endsItem reports whether a column of ORDER BY ends in front of token i.
func (r *tolerant) endsItem(i int) bool {
	return i >= len(r.st.tokens) || r.st.is(i, ",", "asc", "desc")
}

// skipCommand skips a command about partitions, which takes the rest of the
// statement with it.
func (r *tolerant) skipCommand() {
	for r.fault == nil && r.i < len(r.st.tokens) {
		r.skip()
	}
}
