package perform

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gcity/config"
	"gcity/controller/effect"
	"gcity/internal/deadline"
)

// More starts than maxHung check the trust at the same time.
func TestMayRunOfManyAgents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		untrusted := errors.New("is not trusted")
		b := &base{looks: deadline.New[any](maxHung), w: World{
			InForce: func() *effect.Configuration { return &effect.Configuration{Source: &config.City{}} },
			Options: Options{MayRun: func(*config.City) func(string) error {
				time.Sleep(4 * time.Second)
				return func(user string) error {
					if user == "agent 7" {
						return untrusted
					}
					return nil
				}
			}}}}
		var all sync.WaitGroup
		for i := range 2 * maxHung {
			all.Go(func() {
				err := b.mayRun(t.Context(), fmt.Sprintf("agent %d", i))
				if errors.Is(err, untrusted) != (i == 7) || i != 7 && err != nil {
					t.Errorf("agent %d: %v", i, err)
				}
			})
		}
		all.Wait()
	})
}
