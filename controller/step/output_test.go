package step

import (
	"testing"

	"gcity/city"
	"gcity/controller/effect"
)

// A rejection has the code of the error, so that a failed write is not reported as a conflict.
func TestRejectionKeepsTheCode(t *testing.T) {
	var out Output
	err := city.Errorf(city.Unavailable, "no space")
	out.RejectFlag(1, "nothing was suspended: no space", err)
	if reply, ok := out.Effects[0].(effect.SendReply); !ok || !city.HasCode(reply.Err, city.Unavailable) {
		t.Errorf("got %+v", out.Effects)
	}
}
