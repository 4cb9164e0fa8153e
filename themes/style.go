package themes

import (
	"fmt"
	"strconv"
	"strings"
)

// Style is how a token looks. The zero value changes nothing.
type Style struct {
	Bold, Faint, Italic, Underline, Reverse bool

	// Text and Ground are colours: "0" to "15" the terminal's own, up to "255" those of the palette, or "#rrggbb";
	// "" = none.
	Text, Ground string
}

// parse reads "bold cyan on #101820". A colour is one of the sixteen names ("red", "bright-red", …), a number of the
// 256 colour palette, or #rrggbb.
func parse(style string) (Style, error) {
	var s Style
	paint := &s.Text // Ground after "on"
	for _, word := range strings.Fields(style) {
		if word == "on" {
			paint = &s.Ground
			continue
		}
		if flag := s.attribute(word); flag != nil {
			*flag = true
			continue
		}
		code, err := colour(word)
		if err != nil {
			return Style{}, err
		}
		*paint = code
	}
	return s, nil
}

// attribute is what a word switches on, nil if it is no attribute.
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

func colour(word string) (string, error) {
	if hex, ok := strings.CutPrefix(word, "#"); ok {
		if _, err := strconv.ParseUint(hex, 16, 32); err != nil || len(hex) != 6 {
			return "", fmt.Errorf("%q is no colour: write #rrggbb", word)
		}
		return word, nil
	}
	if n, err := strconv.Atoi(word); err == nil {
		if n < 0 || n > 255 {
			return "", fmt.Errorf("%q is no colour: the palette has 0 to 255", word)
		}
		return strconv.Itoa(n), nil
	}
	name, bright := strings.CutPrefix(word, "bright-")
	for i, known := range [...]string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"} {
		if name != known {
			continue
		}
		if bright {
			i += 8
		}
		return strconv.Itoa(i), nil
	}
	return "", fmt.Errorf("%q is neither an attribute (bold, faint, italic, underline, reverse) nor a colour", word)
}
