package events

import "context"

// Report is the result of Check.
type Report struct {
	Events uint64 `json:"events"`
	First  uint64 `json:"first"` // first and last seq; 0 = no events
	Last   uint64 `json:"last"`
	// missing seqs, at most MaxSpans spans
	Missing []Span   `json:"missing,omitempty"`
	Damaged uint64   `json:"damaged"`
	Damage  []Damage `json:"damage,omitempty"` // the newest damaged lines
}

// Span is an inclusive range of seqs.
type Span struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// MaxSpans is the maximum length of Report.Missing.
const MaxSpans = 100

// Check reads the whole log and verifies every line, which takes about a second per gigabyte. It does not change the
// log.
func (r *Reader) Check(ctx context.Context) (Report, error) {
	var rep Report
	var damage damageCounter
	c := &cursor{dir: r.dir, damage: &damage}
	defer c.close()
	for {
		_, ok, err := c.next()
		if err == nil && rep.Events%checkEvery == 0 {
			err = ctx.Err()
		}
		if !ok || err != nil {
			rep.Damaged, rep.Damage = damage.get()
			return rep, err
		}
		switch {
		case rep.First == 0:
			rep.First = c.after
		case c.after != rep.Last+1 && len(rep.Missing) < MaxSpans:
			rep.Missing = append(rep.Missing, Span{rep.Last + 1, c.after - 1})
		}
		rep.Last = c.after
		rep.Events++
	}
}
