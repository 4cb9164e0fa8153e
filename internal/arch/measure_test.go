package arch

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
	"unicode/utf8"
)

var budgets = map[string]int{
	"files":      40,   // of a package
	"lines":      6000, // of a package
	"methods":    60,   // of a receiver
	"scattering": 10,   // files with methods of one receiver
	"fields":     30,   // of a struct
	"length":     60,   // lines of a function
	"parameters": 5,    // of a function
	"wide":       0,    // lines of a package that are wider than maxCode or maxComment
}

const (
	maxCode    = 100 // columns of a line of code
	maxComment = 120 // columns of a line that holds only a comment
	tabColumns = 4
)

// If the number applies to a whole package, name is empty.
type subject struct{ dir, kind, name string }

func measure(files []source) map[subject]int {
	all := map[subject]int{}
	methods := map[subject]bool{} // methods, and files with methods, by receiver
	for _, f := range files {
		all[subject{f.dir, "files", ""}]++
		all[subject{f.dir, "lines", ""}] += f.fset.File(f.tree.Pos()).LineCount()
		all[subject{f.dir, "wide", ""}] += wideLines(f)
		for _, d := range f.tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				measureFunc(all, f, d)
				if r := receiver(d); r != "" {
					methods[subject{f.dir, "methods", r + " " + d.Name.Name}] = true
					methods[subject{f.dir, "scattering", r + " " + path.Base(f.path)}] = true
				}
			case *ast.GenDecl:
				measureStructs(all, f, d)
			}
		}
	}
	for m := range methods {
		r, _, _ := strings.Cut(m.name, " ")
		all[subject{m.dir, m.kind, r}]++
	}
	over := map[subject]int{}
	for s, figure := range all {
		if figure > budgets[s.kind] {
			over[s] = figure
		}
	}
	return over
}

func measureFunc(all map[subject]int, f source, d *ast.FuncDecl) {
	name := d.Name.Name
	if r := receiver(d); r != "" {
		name = r + "." + name
	}
	length := f.fset.Position(d.End()).Line - f.fset.Position(d.Pos()).Line + 1
	all[subject{f.dir, "length", name}] = max(all[subject{f.dir, "length", name}], length)
	all[subject{f.dir, "parameters", name}] = fieldCount(d.Type.Params)
}

func measureStructs(all map[subject]int, f source, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		if t, ok := spec.(*ast.TypeSpec); ok {
			if s, ok := t.Type.(*ast.StructType); ok {
				all[subject{f.dir, "fields", t.Name.Name}] = fieldCount(s.Fields)
			}
		}
	}
}

// fieldCount counts the names of fields, and one for each embedded or unnamed field.
func fieldCount(l *ast.FieldList) (n int) {
	for _, field := range l.List {
		n += max(1, len(field.Names))
	}
	return n
}

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// wideLines skips raw strings, because a break would change what the program prints.
func wideLines(f source) (n int) {
	comments, raw := map[int]bool{}, map[int]bool{}
	for _, group := range f.tree.Comments {
		for _, c := range group.List {
			first, last := f.fset.Position(c.Pos()), f.fset.Position(c.End())
			for line := first.Line; line <= last.Line; line++ {
				comments[line] = true
			}
		}
	}
	ast.Inspect(f.tree, func(node ast.Node) bool {
		if lit, ok := node.(*ast.BasicLit); ok && lit.Kind == token.STRING && lit.Value[0] == '`' {
			for i := range strings.Count(lit.Value, "\n") {
				raw[f.fset.Position(lit.Pos()).Line+1+i] = true
			}
		}
		return true
	})
	number := 0
	for line := range strings.Lines(f.text) {
		number++
		line = strings.TrimSuffix(line, "\n")
		limit := maxCode
		trimmed := strings.TrimLeft(line, "\t ")
		if comments[number] && (strings.HasPrefix(trimmed, "//") || strings.HasPrefix(trimmed, "/*")) {
			limit = maxComment
		}
		tabs := strings.Count(line, "\t")
		if !raw[number] && utf8.RuneCountInString(line)+tabs*(tabColumns-1) > limit {
			n++
		}
	}
	return n
}
