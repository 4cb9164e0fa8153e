package exit

import (
	"testing"

	"gcity/api/client"
	"gcity/city"
)

// A stream that ends with its controller is recognized, also if the controller has an older version.
func TestIsInterrupted(t *testing.T) {
	const stopped = "the city's controller has stopped"
	for err, want := range map[error]bool{
		client.ErrEnded: true,
		&city.Error{Code: city.Unavailable, Message: "x", Details: city.Ended}:               true,
		city.Errorf(city.Unavailable, stopped):                                               true,
		city.Errorf(city.Unavailable, "the supervisor has stopped"):                          true,
		city.Errorf(city.Unavailable, "the city is being stopped"):                           false,
		city.Errorf(city.Conflict, stopped):                                                  false,
		&city.Error{Code: city.Unavailable, Message: stopped, Details: city.ConfigUntrusted}: false,
	} {
		if got := IsInterrupted(err); got != want {
			t.Errorf("%v: got %t", err, got)
		}
	}
}
