package env

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gcity/city"
)

// older is a controller with another version, which does not know a request.
type older struct{ city.Control }

func (older) Do(context.Context, city.Command) (city.Receipt, error) {
	return city.Receipt{}, city.Errorf(city.Invalid, "possible here: GET")
}

func (older) Snapshot(context.Context) (*city.Snapshot, error) {
	return &city.Snapshot{Version: "1.0"}, nil
}

// If a controller with another version does not know a request, the error names both versions.
func TestRequestToAnOlderController(t *testing.T) {
	for _, c := range []struct {
		version string
		live    bool
		named   bool
	}{{"1.1", true, true}, {"1.0", true, false}, {"1.1", false, false}} {
		e := &Env{Version: c.version}
		_, err := e.Request(t.Context(), &Link{Control: older{}, Live: c.live}, city.Reload{})
		named := strings.Contains(err.Error(), "the controller has version 1.0 and this program has version 1.1")
		if named != c.named || !city.HasCode(err, city.Invalid) {
			t.Errorf("%+v: got %v", c, errors.Unwrap(err))
		}
	}
}
