package widget

import "gcity/themes"

// FieldWidth is the width of the name of a field.
const FieldWidth = 12

// Field returns a line of a detail view: a name and what is known of it, "-" for nothing.
func (k *Styles) Field(name, value string) string {
	if value == "" {
		value = "-"
	}
	return k.Paint(themes.Dim, Fit(name, FieldWidth, "")) + value
}
