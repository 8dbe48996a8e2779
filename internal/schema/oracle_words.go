package schema

// This file knows the words of Oracle's DDL that say nothing of names, types, keys
// and values.

import (
	"strings"
)

// phrases are runs of words by their first. "a|b" stands for either word, <n> for a
// number, <name> for a name, <text> for a text, <any> for one token, () for a group
// in parentheses; what stands in brackets may be missing. Of phrases that begin
// alike the longer stand first.
type phrases map[string][]phrase

// A phrase is what stands behind its first word.
type phrase []phraseWord

// A phraseWord is one word of a phrase.
type phraseWord struct {
	words    []string // one of them, or one of the kinds above
	optional bool
}

func newPhrases(list ...string) phrases {
	p := phrases{}
	for _, text := range list {
		var all phrase
		for _, w := range strings.Fields(text) {
			bare := strings.Trim(w, "[]")
			all = append(all, phraseWord{strings.Split(bare, "|"), bare != w})
		}
		for _, first := range all[0].words {
			p[first] = append(p[first], all[1:])
		}
	}
	return p
}

// phrase moves behind a phrase that stands next.
func (r *tolerant) phrase(p phrases) bool {
	for _, words := range p[r.word()] {
		if end := r.phraseEnd(p, words); end > 0 {
			r.i = end
			return true
		}
	}
	return false
}

// phraseEnd returns the token behind the words if they stand behind the next token,
// else 0.
func (r *tolerant) phraseEnd(p phrases, words phrase) int {
	i := r.i + 1
	for _, w := range words {
		switch end := r.phraseWordEnd(p, w, i); {
		case end > 0:
			i = end
		case !w.optional:
			return 0
		}
	}
	return i
}

// phraseWordEnd returns the token behind what stands for w at token i, or 0.
func (r *tolerant) phraseWordEnd(p phrases, w phraseWord, i int) int {
	found := false
	switch w.words[0] {
	case "()":
		if r.st.is(i, "(") && r.st.closing(i) < len(r.st.tokens) {
			return r.st.closing(i) + 1
		}
	case "<n>":
		if r.st.is(i, "-") {
			i++
		}
		found = r.has(i, number)
	case "<text>":
		found = r.has(i, text)
	case "<any>":
		found = i < len(r.st.tokens)
	case "<name>":
		// A word that begins something else is no name that may be missing.
		begins := r.has(i, word) && (p[strings.ToLower(r.st.text(i))] != nil || r.st.is(i, "partition", "as"))
		if r.isName(i) && (!w.optional || !begins) {
			return r.st.qualified(i) + 1
		}
	default:
		found = r.st.is(i, w.words...)
	}
	if !found {
		return 0
	}
	return i + 1
}

// oracleStorage says how a table, a partition or a LOB is kept.
var oracleStorage = newPhrases(
	"segment creation immediate|deferred", "pctfree|pctused|initrans|maxtrans|pctthreshold|pctversion|chunk|freepools <n>",
	"storage ()", "tablespace set <name>", "tablespace <name>",
	"logging|nologging|filesystem_like_logging|cache|nocache|monitoring|nomonitoring|noparallel|nocompress|nomapping",
	"rowdependencies|norowdependencies|overflow",
	"compress for all|direct_load operations", "compress for oltp", "compress for query|archive [low|high]",
	"compress advanced [low|high]", "compress basic", "compress <n>", "compress",
	"row store compress [basic|advanced]", "row archival", "column store compress for query|archive [low|high]", "column store compress",
	"no row level locking", "row level locking", "no row archival",
	"parallel ()", "parallel <n> instances <n>", "parallel <n>", "parallel", "reject limit <any>",
	"lob () store as [securefile|basicfile] [<name>] [()]", "varray <name> store as [securefile|basicfile] lob [<name>] [()]",
	"varray <name> store as table <name>", "nested table <name> [local|global] store as <name> [()] [return] [as] [locator|value]",
	"xmltype column <name> store as [all] [varrays] [securefile|basicfile] [object] [binary|clob] [relational|xml|tables] [<name>] [()]",
	"xmltype [column] store as [securefile|basicfile] [object] [binary|clob] [relational|xml] [<name>] [()]",
	"json () store as [()]", "column <name> not substitutable at all levels", "column <name> substitutable at all levels",
	"enable|disable row movement", "enable|disable table lock", "enable|disable logical replication all keys", "enable|disable logical replication allow novalidate keys",
	"enable|disable logical replication [no] [partial] [json]",
	"organization heap", "including <name> overflow", "including <name>", "mapping table",
	"inmemory", "no inmemory", "memcompress auto", "memcompress for dml", "memcompress for query|capacity|archive [low|high]", "no memcompress",
	"priority none|low|medium|high|critical", "distribute by rowid range", "distribute by partition|subpartition", "distribute auto", "distribute",
	"for service <name>", "duplicate [all]", "no duplicate",
	"result_cache ()", "flashback archive [<name>]", "no flashback archive", "memoptimize for read|write", "no memoptimize for read|write",
	"indexing on|off", "read only|write", "default collation <name>",
	"supplemental log group <name> () [always]", "supplemental log data () [columns]",
	"buffer_pool|flash_cache|cell_flash_cache keep|recycle|default|none", "sharing = <any>", "cluster <name> ()", "annotations ()",
	"ilm add policy", "ilm delete|enable|disable policy <name>", "attribute clustering by linear|interleaved order ()",
	"clustering by linear|interleaved order ()", "yes|no on load", "yes|no on data movement", "with|without materialized zonemap [()]",
	"no drop until <n> days idle", "no drop", "no delete until <n> days after insert", "no delete [locked]",
	"hashing using <any> version <any>", "hashing using <any>", "on commit preserve|delete rows|definition", "disable|enable unusable lob",
)

// oracleIndexWords stand behind the columns of an index.
var oracleIndexWords = newPhrases(
	"pctfree|pctused|initrans|maxtrans <n>", "storage ()", "tablespace <name>",
	"logging|nologging|online|offline|sort|nosort|noreverse|usable|visible|nocompress|noparallel",
	"segment creation immediate|deferred", "compute statistics", "compress advanced [low|high]", "compress <n>", "compress",
	"parallel ()", "parallel <n>", "parallel", "local store in ()", "local () store in ()", "local ()", "local",
	"global partition by range|hash () partitions <n> store in ()", "global partition by range|hash () partitions <n>",
	"global partition by range|hash () ()", "global", "parameters ()", "indexing full|partial", "deferred|immediate invalidation",
	"buffer_pool|flash_cache|cell_flash_cache keep|recycle|default|none", "annotations ()", "no inmemory", "filter by <name>",
)

// oracleColumnWords stand in the definition of a column.
var oracleColumnWords = newPhrases(
	"visible", "sort", "collate <name>", "encrypt using <text> [identified] [by] [<any>] [<text>] [no] [salt]",
	"encrypt identified by <any> [<text>] [no] [salt]", "encrypt [<text>] [no] [salt]", "decrypt", "annotations ()",
	"evaluate using current edition", "evaluate using edition <name>", "evaluate using null edition",
	"unusable before|beginning|with current|null edition", "unusable before|beginning|with edition <name>",
	"virtual by user for statistics", "virtual|materialized|reservable", "with rowid", "scope is <name>", "not substitutable at all levels",
	"substitutable at all levels", "storage ()", "validate|novalidate", "updatable|nonupdatable",
)

// oracleSequenceWords say how an identity counts.
var oracleSequenceWords = newPhrases(
	"start with limit value", "start with <n>", "increment by <n>", "maxvalue|minvalue|cache <n>",
	"nomaxvalue|nominvalue|cycle|nocycle|nocache|order|noorder|keep|nokeep|scale|noscale|global|session",
	"scale|shard extend|noextend", "noextend|extend|noshard|shard",
)

// oracleViewWords stand between the columns of a view and its query.
var oracleViewWords = newPhrases(
	"bequeath current_user|definer", "default collation <name>", "sharing = <any>", "annotations ()", "container_map|containers_default",
)

// oracleAlterWords are commands of ALTER TABLE that change nothing that is kept.
var oracleAlterWords = newPhrases(
	"move online", "move", "online", "including rows", "update indexes [()]", "update [global] indexes",
	"shrink space [compact] [cascade]", "allocate extent [()]", "deallocate unused [keep] [<any>]",
	"minimize records_per_block", "nominimize records_per_block", "add supplemental log group <name> () [always]",
	"add supplemental log data () [columns]", "drop supplemental log group <name>", "drop supplemental log data () [columns]",
	"add overflow [()]", "drop unused columns [checkpoint] [<n>]", "drop columns continue [checkpoint] [<n>]",
	"add period for <name> [()]", "drop period for <name>", "coalesce", "rename lob () <name> to <name>",
	"modify nested table <name> return as value|locator", "modify lob () ()", "modify varray <name> ()", "modify opaque type <name> store () unpacked",
	"modify default attributes [for]", "modify clustering", "add clustering by linear|interleaved order ()", "drop clustering",
	"set interval ()", "set store in ()", "set partitioning automatic|manual", "invalidate", "cascade [constraints]", "checkpoint <n>",
	"ilm add|delete|enable|disable|delete_all policy [<name>]",
)
