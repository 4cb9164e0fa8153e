package city

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gcity/beads"
)

// WispLabel marks the root of a molecule that an automation or a sling created. Such a molecule is deleted some time
// after it is closed.
const WispLabel = "wisp"

// DigestType is the type of a closed bead that summarizes a wisp.
const DigestType = "digest"

// digestOf is a label prefix. The label ensures that a wisp gets only one digest.
const digestOf = "digest-of:"

// DigestKey is a wisp's metadata key for the ID of its digest.
const DigestKey = "digest"

// Wisp is a wisp in progress, with its steps in the order of their creation.
type Wisp struct {
	Root       beads.Bead
	Done, Open []beads.Bead
}

// Over reports whether a wisp has steps and all of them are closed.
func (w *Wisp) Over() bool { return len(w.Open) == 0 && len(w.Done) > 0 }

// Line describes the progress of a wisp: "gc-12 patrol: 1 of 3 steps done, next gc-14 look around".
func (w *Wisp) Line() string {
	text := fmt.Sprintf("%s %s: %d of %d steps done", w.Root.ID, w.Root.Title, len(w.Done),
		len(w.Done)+len(w.Open))
	if len(w.Open) > 0 {
		text += ", next " + w.Open[0].ID + " " + w.Open[0].Title
	}
	return text
}

// Wisps returns the wisps that are assigned to an agent or describe its work.
func Wisps(ctx context.Context, c Control, agent string) ([]Wisp, error) {
	mine, err := c.Beads(ctx, beads.Query{Assignee: agent, Status: beads.Unclosed(),
		NotType: NotWork(), Limit: -1})
	if err != nil {
		return nil, WorkError(err)
	}
	var out []Wisp
	seen := map[string]bool{}
	for _, b := range slices.Backward(mine) {
		root := b
		if id := b.Metadata[MoleculeKey]; b.Type != beads.TypeMolecule && id != "" {
			if root, err = GetBead(ctx, c, id); err != nil {
				if problem := WorkError(err).(*Error); problem.Code == NotFound {
					continue
				}
				return nil, err
			}
		}
		if seen[root.ID] || root.Type != beads.TypeMolecule ||
			root.Status == beads.StatusClosed || !slices.Contains(root.Labels, WispLabel) ||
			root.Assignee != "" && root.Assignee != agent {
			continue
		}
		seen[root.ID] = true
		w := Wisp{Root: root}
		all, err := c.Beads(ctx, beads.Query{Parent: root.ID, NotType: NotWork(), Limit: -1})
		if err != nil {
			return nil, WorkError(err)
		}
		for _, s := range slices.Backward(all) {
			if s.Status == beads.StatusClosed {
				w.Done = append(w.Done, s)
			} else {
				w.Open = append(w.Open, s)
			}
		}
		out = append(out, w)
	}
	return out, nil
}

// Squash writes a digest of a finished wisp and closes the wisp. It can be repeated.
func Squash(ctx context.Context, c Control, w Wisp, by, words string) (digest beads.Bead,
	err error) {
	kept, err := c.Beads(ctx, beads.Query{Labels: []string{digestOf + w.Root.ID}, Type: DigestType,
		Limit: 1})
	if err != nil {
		return digest, WorkError(err)
	}
	if len(kept) > 0 {
		digest = kept[0]
	} else if digest, err = writeDigest(ctx, c, w, by, words); err != nil {
		return digest, err
	}
	p := beads.Closing()
	p.SetMetadata = map[string]string{DigestKey: digest.ID, beads.CloseReason: "squashed into " +
		digest.ID}
	// Force closes the root even if a step has been added in the meantime
	_, err = c.Do(ctx, UpdateBead{ID: w.Root.ID, Patch: p, Force: true})
	return digest, err
}

func writeDigest(ctx context.Context, c Control, w Wisp, by, words string) (beads.Bead, error) {
	b := beads.Bead{Type: DigestType, Status: beads.StatusClosed,
		Title:    cutTitle(w.Root.Title + ", " + steps(len(w.Done)) + " done"),
		Assignee: by, Ref: w.Root.Ref, Labels: []string{digestOf + w.Root.ID},
		Description: digestText(w, words)}
	r, err := c.Do(ctx, CreateBead{Bead: b})
	if err != nil {
		return beads.Bead{}, err
	}
	if r.Bead == nil {
		return beads.Bead{}, Errorf(Unavailable, "the city did not return the "+
			"bead that it created")
	}
	return *r.Bead, nil
}

// DigestedWisp returns the ID of the wisp that a digest summarizes, or "" if b is not a digest.
func DigestedWisp(b beads.Bead) string {
	for _, l := range b.Labels {
		if id, ok := strings.CutPrefix(l, digestOf); ok && b.Type == DigestType {
			return id
		}
	}
	return ""
}

const (
	digestTitle = 120     // in characters
	digestMost  = 8 << 10 // in bytes
)

func cutTitle(s string) string {
	if r := []rune(s); len(r) > digestTitle {
		return string(r[:digestTitle-1]) + "…"
	}
	return s
}

func digestText(w Wisp, words string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Done by %s, started %s.\n\n", w.Root.ID,
		w.Root.CreatedAt.UTC().Format("2006-01-02 15:04:05Z"))
	for i, s := range w.Done {
		if b.Len() > digestMost {
			fmt.Fprintf(&b, "and %d more\n", len(w.Done)-i)
			break
		}
		fmt.Fprintf(&b, "- %s %s", s.ID, s.Title)
		if s.ClosedAt != nil {
			fmt.Fprintf(&b, ", %s", s.ClosedAt.UTC().Format("15:04:05Z"))
		}
		if why := s.Metadata[beads.CloseReason]; why != "" {
			fmt.Fprintf(&b, ": %s", why)
		}
		b.WriteString("\n")
	}
	if words != "" {
		fmt.Fprintf(&b, "\n%s\n", words)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func steps(n int) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
}
