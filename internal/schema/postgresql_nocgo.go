//go:build !cgo

package schema

// This file names the parser in Go alone, for builds without a C compiler. The other
// build has the same names for its twin; everything above them is shared.

import (
	parser "github.com/sqlc-dev/oliphant"
	failure "github.com/sqlc-dev/oliphant/parser"
)

// pgParse parses statements.
func pgParse(sql string) (*pgParseResult, error) { return parser.Parse(sql) }

// pgCheck parses statements and returns what is wrong.
func pgCheck(sql string) error {
	_, err := pgParse(sql)
	return err
}

type pgError = failure.Error

type (
	pgParseResult           = parser.ParseResult
	pgNode                  = parser.Node
	pgCreateStmt            = parser.CreateStmt
	pgColumnDef             = parser.ColumnDef
	pgConstraint            = parser.Constraint
	pgAlterTableStmt        = parser.AlterTableStmt
	pgAlterTableCmd         = parser.AlterTableCmd
	pgIndexStmt             = parser.IndexStmt
	pgIndexElem             = parser.IndexElem
	pgTypeName              = parser.TypeName
	pgRenameStmt            = parser.RenameStmt
	pgDropStmt              = parser.DropStmt
	pgCommentStmt           = parser.CommentStmt
	pgRangeVar              = parser.RangeVar
	pgSelectStmt            = parser.SelectStmt
	pgVariableSetStmt       = parser.VariableSetStmt
	pgAlterEnumStmt         = parser.AlterEnumStmt
	pgCreateDomainStmt      = parser.CreateDomainStmt
	pgAlterDomainStmt       = parser.AlterDomainStmt
	pgTableLikeClause       = parser.TableLikeClause
	pgAlterObjectSchemaStmt = parser.AlterObjectSchemaStmt
	pgCreateSchemaStmt      = parser.CreateSchemaStmt
	pgCreateTrigStmt        = parser.CreateTrigStmt
	pgViewStmt              = parser.ViewStmt
	pgCreateTableAsStmt     = parser.CreateTableAsStmt
	pgCompositeTypeStmt     = parser.CompositeTypeStmt
)

const (
	pgAlterAddColumn               = parser.AlterTableType_AT_AddColumn
	pgAlterColumnDefault           = parser.AlterTableType_AT_ColumnDefault
	pgAlterDropNotNull             = parser.AlterTableType_AT_DropNotNull
	pgAlterSetNotNull              = parser.AlterTableType_AT_SetNotNull
	pgAlterDropExpression          = parser.AlterTableType_AT_DropExpression
	pgAlterDropColumn              = parser.AlterTableType_AT_DropColumn
	pgAlterAddConstraint           = parser.AlterTableType_AT_AddConstraint
	pgAlterDropConstraint          = parser.AlterTableType_AT_DropConstraint
	pgAlterAlterColumnType         = parser.AlterTableType_AT_AlterColumnType
	pgAlterAddInherit              = parser.AlterTableType_AT_AddInherit
	pgAlterDropInherit             = parser.AlterTableType_AT_DropInherit
	pgAlterAttachPartition         = parser.AlterTableType_AT_AttachPartition
	pgAlterDetachPartition         = parser.AlterTableType_AT_DetachPartition
	pgAlterDetachPartitionFinalize = parser.AlterTableType_AT_DetachPartitionFinalize
	pgAlterAddIdentity             = parser.AlterTableType_AT_AddIdentity
	pgAlterSetIdentity             = parser.AlterTableType_AT_SetIdentity
	pgAlterDropIdentity            = parser.AlterTableType_AT_DropIdentity

	pgConstrNull      = parser.ConstrType_CONSTR_NULL
	pgConstrNotnull   = parser.ConstrType_CONSTR_NOTNULL
	pgConstrDefault   = parser.ConstrType_CONSTR_DEFAULT
	pgConstrIdentity  = parser.ConstrType_CONSTR_IDENTITY
	pgConstrGenerated = parser.ConstrType_CONSTR_GENERATED
	pgConstrCheck     = parser.ConstrType_CONSTR_CHECK
	pgConstrPrimary   = parser.ConstrType_CONSTR_PRIMARY
	pgConstrUnique    = parser.ConstrType_CONSTR_UNIQUE
	pgConstrExclusion = parser.ConstrType_CONSTR_EXCLUSION
	pgConstrDeferred  = parser.ConstrType_CONSTR_ATTR_DEFERRABLE

	pgOnTable         = parser.ObjectType_OBJECT_TABLE
	pgOnForeignTable  = parser.ObjectType_OBJECT_FOREIGN_TABLE
	pgOnView          = parser.ObjectType_OBJECT_VIEW
	pgOnColumn        = parser.ObjectType_OBJECT_COLUMN
	pgOnTabconstraint = parser.ObjectType_OBJECT_TABCONSTRAINT
	pgOnIndex         = parser.ObjectType_OBJECT_INDEX
	pgOnTrigger       = parser.ObjectType_OBJECT_TRIGGER
	pgOnType          = parser.ObjectType_OBJECT_TYPE
	pgOnDomain        = parser.ObjectType_OBJECT_DOMAIN
	pgOnSchema        = parser.ObjectType_OBJECT_SCHEMA
	pgOnMatview       = parser.ObjectType_OBJECT_MATVIEW

	pgSortbyDesc = parser.SortByDir_SORTBY_DESC

	pgSortbyNullsFirst   = parser.SortByNulls_SORTBY_NULLS_FIRST
	pgSortbyNullsDefault = parser.SortByNulls_SORTBY_NULLS_DEFAULT

	pgExprOp    = parser.A_Expr_Kind_AEXPR_OP
	pgExprOpAny = parser.A_Expr_Kind_AEXPR_OP_ANY
	pgExprIn    = parser.A_Expr_Kind_AEXPR_IN

	pgAndExpr = parser.BoolExprType_AND_EXPR
	pgOrExpr  = parser.BoolExprType_OR_EXPR

	pgIsNull = parser.NullTestType_IS_NULL

	pgDropCascade = parser.DropBehavior_DROP_CASCADE

	pgVarSetValue = parser.VariableSetKind_VAR_SET_VALUE
)
