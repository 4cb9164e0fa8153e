package main

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

const (
	fontSize = 13
	margin   = 10
	fontDir  = "/usr/share/fonts/truetype/dejavu/"
)

type pen struct {
	plain, bold    font.Face
	width, height  int
	ascent         int
	dark, lightPal palette
	lines          map[string]lineArms
}

type palette struct {
	back, text color.RGBA
	ansi       [16]color.RGBA
}

func newPen() (*pen, error) {
	plain, err := face("DejaVuSansMono.ttf")
	if err != nil {
		return nil, err
	}
	bold, err := face("DejaVuSansMono-Bold.ttf")
	if err != nil {
		return nil, err
	}
	advance, _ := plain.GlyphAdvance('M')
	m := plain.Metrics()
	return &pen{
		plain: plain, bold: bold, width: advance.Round(), height: (m.Ascent + m.Descent).Ceil() + 1,
		ascent: m.Ascent.Ceil(),
		lines:  lineSigns(),
		dark: palette{rgb(0x16181d), rgb(0xc9ccd3), colors(
			0x16181d, 0xd9626d, 0x86b26d, 0xd7a75c, 0x6a9fd8, 0xb383cf, 0x5fb3b3, 0xc9ccd3,
			0x6b7280, 0xf07a85, 0x9fcb84, 0xf0c674, 0x86b7ec, 0xcb9be6, 0x7fd0d0, 0xf4f5f7)},
		lightPal: palette{rgb(0xfbfaf7), rgb(0x2e3138), colors(
			0x2e3138, 0xb3303c, 0x3f7d2a, 0x9a6a00, 0x1f5fa8, 0x7d3fa3, 0x1d7a7a, 0xd8d8d4,
			0x7a7d85, 0xc9404c, 0x4f9138, 0xb07d10, 0x2f73c0, 0x9052b8, 0x2a8f8f, 0x101114)},
	}, nil
}

func face(name string) (font.Face, error) {
	data, err := os.ReadFile(fontDir + name)
	if err != nil {
		return nil, fmt.Errorf("the pictures are drawn with DejaVu Sans Mono (Debian: "+
			"fonts-dejavu-core): %w", err)
	}
	f, err := opentype.Parse(data)
	if err != nil {
		return nil, err
	}
	return opentype.NewFace(f, &opentype.FaceOptions{Size: fontSize, DPI: 96,
		Hinting: font.HintingFull})
}

func rgb(v uint32) color.RGBA { return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255} }

func colors(all ...uint32) (out [16]color.RGBA) {
	for i, v := range all {
		out[i] = rgb(v)
	}
	return out
}

type style struct {
	fore, back                     *color.RGBA
	bold, faint, reverse, underled bool
}

func (p *pen) draw(lines []string, cols, rows int, light bool) *image.RGBA {
	pal := p.dark
	if light {
		pal = p.lightPal
	}
	img := image.NewRGBA(image.Rect(0, 0, cols*p.width+2*margin, rows*p.height+2*margin))
	draw.Draw(img, img.Bounds(), image.NewUniform(pal.back), image.Point{}, draw.Src)
	for y, line := range lines {
		p.line(img, line, y, pal)
	}
	return img
}

func (p *pen) cursor(img *image.RGBA, x, y int, light bool) {
	pal := p.dark
	if light {
		pal = p.lightPal
	}
	at := image.Pt(margin+x*p.width, margin+y*p.height)
	draw.Draw(img, image.Rect(at.X, at.Y+1, at.X+2, at.Y+p.height-1), image.NewUniform(pal.text),
		image.Point{}, draw.Src)
}

func (p *pen) line(img *image.RGBA, line string, y int, pal palette) {
	var st style
	var state byte
	for x := 0; line != ""; {
		seq, width, n, next := ansi.DecodeSequence(line, state, nil)
		line, state = line[n:], next
		if width == 0 {
			if params, ok := strings.CutPrefix(seq, "\x1b["); ok && strings.HasSuffix(params, "m") {
				st.apply(strings.TrimSuffix(params, "m"), pal)
			}
			continue
		}
		at := image.Pt(margin+x*p.width, margin+y*p.height)
		box := image.Rect(at.X, at.Y, at.X+width*p.width, at.Y+p.height)
		p.cell(img, seq, box, st.colors(pal), st)
		x += width
	}
}

func (s style) colors(pal palette) (c [2]color.RGBA) {
	c = [2]color.RGBA{pal.text, pal.back}
	if s.fore != nil {
		c[0] = *s.fore
	}
	if s.back != nil {
		c[1] = *s.back
	}
	if s.reverse {
		c[0], c[1] = c[1], c[0]
	}
	if s.faint {
		c[0] = mix(c[0], c[1])
	}
	return c
}

func mix(a, b color.RGBA) color.RGBA {
	half := func(a, b uint8) uint8 { return uint8((3*int(a) + 2*int(b)) / 5) }
	return color.RGBA{half(a.R, b.R), half(a.G, b.G), half(a.B, b.B), 255}
}

func (p *pen) cell(img *image.RGBA, text string, box image.Rectangle, c [2]color.RGBA, st style) {
	at := box.Min
	draw.Draw(img, box, image.NewUniform(c[1]), image.Point{}, draw.Src)
	if a, ok := p.lines[text]; ok {
		strokes(img, box, a, c[0])
		return
	}
	f := p.plain
	if st.bold {
		f = p.bold
	}
	d := font.Drawer{Dst: img, Src: image.NewUniform(c[0]), Face: f,
		Dot: fixed.P(at.X, at.Y+p.ascent)}
	d.DrawString(text)
	if st.underled {
		y := at.Y + p.ascent + 2
		draw.Draw(img, image.Rect(box.Min.X, y, box.Max.X, y+1), image.NewUniform(c[0]),
			image.Point{}, draw.Src)
	}
}

func (s *style) apply(params string, pal palette) {
	codes := strings.FieldsFunc(params, func(r rune) bool { return r == ';' || r == ':' })
	if len(codes) == 0 {
		codes = []string{"0"}
	}
	for i := 0; i < len(codes); i++ {
		n, err := strconv.Atoi(codes[i])
		if err != nil {
			continue
		}
		switch {
		case n == 38 || n == 48:
			c, used := extended(codes[i+1:], pal)
			i += used
			if n == 38 {
				s.fore = c
			} else {
				s.back = c
			}
		default:
			s.simple(n, pal)
		}
	}
}

func (s *style) simple(n int, pal palette) {
	pick := func(i int) *color.RGBA { return &pal.ansi[i] }
	switch {
	case n == 0:
		*s = style{}
	case n == 1:
		s.bold = true
	case n == 2:
		s.faint = true
	case n == 4:
		s.underled = true
	case n == 7:
		s.reverse = true
	case n == 22:
		s.bold, s.faint = false, false
	case n == 24:
		s.underled = false
	case n == 27:
		s.reverse = false
	case n >= 30 && n <= 37:
		s.fore = pick(n - 30)
	case n == 39:
		s.fore = nil
	case n >= 40 && n <= 47:
		s.back = pick(n - 40)
	case n == 49:
		s.back = nil
	case n >= 90 && n <= 97:
		s.fore = pick(n - 90 + 8)
	case n >= 100 && n <= 107:
		s.back = pick(n - 100 + 8)
	}
}

func extended(codes []string, pal palette) (*color.RGBA, int) {
	num := func(i int) int {
		if i >= len(codes) {
			return 0
		}
		n, err := strconv.Atoi(codes[i])
		if err != nil {
			return 0
		}
		return n
	}
	switch num(0) {
	case 2:
		return &color.RGBA{uint8(num(1)), uint8(num(2)), uint8(num(3)), 255}, 4
	case 5:
		c := indexed(num(1), pal)
		return &c, 2
	}
	return nil, len(codes)
}

func indexed(n int, pal palette) color.RGBA {
	switch {
	case n < 16:
		return pal.ansi[max(0, n)]
	case n < 232:
		level := func(i int) uint8 {
			if i == 0 {
				return 0
			}
			return uint8(55 + 40*i)
		}
		n -= 16
		return color.RGBA{level(n / 36), level(n / 6 % 6), level(n % 6), 255}
	}
	g := uint8(8 + 10*(min(n, 255)-232))
	return color.RGBA{g, g, g, 255}
}
