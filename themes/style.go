package themes

import (
	"fmt"
	"strconv"
	"strings"
)

// compile turns "bold cyan on #101820" into the SGR sequence that switches it on. A colour is one of the sixteen names
// ("red", "bright-red", …), a number of the 256 colour palette, or #rrggbb.
func compile(style string) (string, error) {
	var codes []string
	ground := 30 // 40 after "on"
	for _, word := range strings.Fields(style) {
		if word == "on" {
			ground = 40
			continue
		}
		if code := attribute(word); code != "" {
			codes = append(codes, code)
			continue
		}
		code, err := colour(word, ground)
		if err != nil {
			return "", err
		}
		codes = append(codes, code)
	}
	if len(codes) == 0 {
		return "", nil
	}
	return "\x1b[" + strings.Join(codes, ";") + "m", nil
}

func attribute(word string) string {
	switch word {
	case "bold":
		return "1"
	case "faint":
		return "2"
	case "italic":
		return "3"
	case "underline":
		return "4"
	case "reverse":
		return "7"
	}
	return ""
}

func colour(word string, ground int) (string, error) {
	if hex, ok := strings.CutPrefix(word, "#"); ok {
		v, err := strconv.ParseUint(hex, 16, 32)
		if err != nil || len(hex) != 6 {
			return "", fmt.Errorf("%q is no colour: write #rrggbb", word)
		}
		return fmt.Sprintf("%d;2;%d;%d;%d", ground+8, v>>16, v>>8&0xff, v&0xff), nil
	}
	if n, err := strconv.Atoi(word); err == nil {
		if n < 0 || n > 255 {
			return "", fmt.Errorf("%q is no colour: the palette has 0 to 255", word)
		}
		return fmt.Sprintf("%d;5;%d", ground+8, n), nil
	}
	name, bright := strings.CutPrefix(word, "bright-")
	for i, known := range [...]string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"} {
		if name != known {
			continue
		}
		if bright {
			i += 60
		}
		return strconv.Itoa(ground + i), nil
	}
	return "", fmt.Errorf("%q is neither an attribute (bold, faint, italic, underline, reverse) nor a colour", word)
}
