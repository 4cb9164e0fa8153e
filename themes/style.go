package themes

import (
	"fmt"
	"strings"

	"gcity/internal/color"
)

// Style is the appearance of a token. The zero value leaves the terminal's appearance unchanged.
type Style struct {
	Bold, Faint, Italic, Underline, Reverse bool

	// Text and Ground are colors: "0" to "15" for the terminal's own colors, up to "255" for the palette, or "#rrggbb";
	// "" = none.
	Text, Ground string
}

// parse parses "bold cyan on #101820". A color is a name such as "bright-red", a number in the 256-color palette, or
// #rrggbb.
func parse(style string) (Style, error) {
	var s Style
	paint := &s.Text
	for _, word := range strings.Fields(style) {
		if word == "on" {
			paint = &s.Ground
			continue
		}
		if flag := s.attribute(word); flag != nil {
			*flag = true
			continue
		}
		code, err := color.Parse(word)
		if err != nil {
			return Style{}, fmt.Errorf("%w; attributes are bold, faint, italic, underline "+
				"and reverse", err)
		}
		*paint = code
	}
	return s, nil
}

func (s *Style) attribute(word string) *bool {
	switch word {
	case "bold":
		return &s.Bold
	case "faint":
		return &s.Faint
	case "italic":
		return &s.Italic
	case "underline":
		return &s.Underline
	case "reverse":
		return &s.Reverse
	}
	return nil
}
