package main

import (
	"image"
	"image/color"
	"image/draw"
)

// lineArms contains stroke widths from the middle of the cell: up, right, down, left; 0 = no stroke.
type lineArms [4]int

// lineSigns maps line-drawing characters to their strokes, because the font's characters would leave gaps between
// cells.
func lineSigns() map[string]lineArms {
	return map[string]lineArms{
		"─": {0, 1, 0, 1}, "━": {0, 3, 0, 3}, "│": {1, 0, 1, 0}, "┃": {3, 0, 3, 0},
		"┌": {0, 1, 1, 0}, "┐": {0, 0, 1, 1}, "└": {1, 1, 0, 0}, "┘": {1, 0, 0, 1},
		"╭": {0, 1, 1, 0}, "╮": {0, 0, 1, 1}, "╰": {1, 1, 0, 0}, "╯": {1, 0, 0, 1},
		"┏": {0, 3, 3, 0}, "┓": {0, 0, 3, 3}, "┗": {3, 3, 0, 0}, "┛": {3, 0, 0, 3},
		"├": {1, 1, 1, 0}, "┤": {1, 0, 1, 1}, "┬": {0, 1, 1, 1}, "┴": {1, 1, 0, 1},
		"┼": {1, 1, 1, 1},
		"┣": {3, 3, 3, 0}, "┫": {3, 0, 3, 3}, "┳": {0, 3, 3, 3}, "┻": {3, 3, 0, 3},
		"╋": {3, 3, 3, 3},
		"╺": {0, 3, 0, 0}, "╸": {0, 0, 0, 3}, "╶": {0, 1, 0, 0}, "╴": {0, 0, 0, 1},
		"╷": {0, 0, 1, 0}, "╵": {1, 0, 0, 0},
	}
}

func strokes(img *image.RGBA, box image.Rectangle, a lineArms, c color.RGBA) {
	middle := image.Pt((box.Min.X+box.Max.X)/2, (box.Min.Y+box.Max.Y)/2)
	widest := 0
	for _, w := range a {
		widest = max(widest, w)
	}
	for side, w := range a {
		if w == 0 {
			continue
		}
		// arms overlap in the middle, so that corners are complete
		r := image.Rect(middle.X-w/2, middle.Y-w/2, middle.X-w/2+w, middle.Y-w/2+w)
		switch side {
		case 0:
			r.Min.Y, r.Max.Y = box.Min.Y, middle.Y-widest/2+widest
		case 1:
			r.Min.X, r.Max.X = middle.X-widest/2, box.Max.X
		case 2:
			r.Min.Y, r.Max.Y = middle.Y-widest/2, box.Max.Y
		case 3:
			r.Min.X, r.Max.X = box.Min.X, middle.X-widest/2+widest
		}
		draw.Draw(img, r, image.NewUniform(c), image.Point{}, draw.Src)
	}
}
