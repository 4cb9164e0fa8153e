package config

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/internal/mute"
)

// A folder that does not answer is its rig's problem: the others are known, nobody asks it twice at a time, and when it
// answers that is known too.
func TestRigsFolderDoesNotAnswer(t *testing.T) {
	if !mute.Apart(t) {
		return
	}
	hung, _, free := mute.Folder(t, false)
	dir := folder(t, "")
	project := filepath.Join(hung, "project")
	put(t, filepath.Join(dir, FileName), "[[rigs]]\nname = \"hung\"\npath = \""+project+"\"\n[[rigs]]\nname = \"well\"\npath = \"/usr\"\n")
	load := func() *City {
		t.Helper()
		c, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	watching(t, dir, WatchOptions{Quiet: time.Millisecond, Poll: 2 * time.Millisecond, Polling: true})
	revision := ""
	for range 5 {
		c := load()
		if want := project + " does not answer; look at what is mounted there, or write another path"; c.Rigs[0].Problem != want || c.Rigs[1].Problem != "" {
			t.Errorf("%q, want %q; %q", c.Rigs[0].Problem, want, c.Rigs[1].Problem)
		}
		if revision != "" && c.Revision != revision {
			t.Error("the configuration is another one at each look")
		}
		revision = c.Revision
		folders.mu.Lock()
		under := len(folders.under)
		folders.mu.Unlock()
		if under > 2 { // the watch may be looking at the other one just now
			t.Errorf("%d looks are under way", under)
		}
	}
	free()
	for end := time.Now().Add(20 * time.Second); strings.Contains(load().Rigs[0].Problem, "does not answer"); {
		if time.Now().After(end) {
			t.Fatal("what answers now is still taken for one that does not")
		}
	}
}

// One look at each folder, so many in all; and what was seen before one asked is not what is there.
func TestLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, answer := map[string]int{}, make(chan string)
		l := looks{most: 2, under: map[string]*look{}}
		l.see = func(path string) sight {
			l.mu.Lock()
			begun[path]++
			l.mu.Unlock()
			if strings.HasPrefix(path, "/hung") {
				return sight{real: <-answer}
			}
			return sight{real: path}
		}
		count := func(path string) int {
			l.mu.Lock()
			defer l.mu.Unlock()
			return begun[path]
		}
		for range 3 {
			if saw, ok := l.at("/hung", time.Now()); ok || saw.problem == "" || saw.real != "/hung" {
				t.Errorf("%+v, %v", saw, ok)
			}
		}
		if saw, ok := l.at("/well", time.Now()); !ok || saw.real != "/well" {
			t.Errorf("%+v, %v", saw, ok)
		}
		if _, ok := l.at("/hung2", time.Now()); ok || count("/hung") != 1 {
			t.Errorf("%v, %d", ok, count("/hung"))
		}
		if _, ok := l.at("/well", time.Now()); ok || count("/well") != 1 {
			t.Errorf("one too many: %v, %d", ok, count("/well"))
		}
		answer <- "/then"
		answer <- "/then"
		synctest.Wait()
		if saw, ok := l.at("/well", time.Now()); !ok || saw.real != "/well" || len(l.under) != 0 {
			t.Errorf("%+v, %v, %v", saw, ok, l.under)
		}

		l.begin("/hung")
		time.Sleep(lookTime / 2) // of the bubble
		seen := make(chan sight)
		go func() {
			saw, _ := l.at("/hung", time.Now())
			seen <- saw
		}()
		synctest.Wait()
		answer <- "/stale"
		answer <- "/now"
		if saw := <-seen; saw.real != "/now" {
			t.Errorf("%+v", saw)
		}
	})
}
