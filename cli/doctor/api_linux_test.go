package doctor

import (
	"path/filepath"
	"strings"
	"testing"

	"gcity/config"
	"gcity/internal/hungfs"
)

// A token file on a file system that does not respond is reported, and doctor does not hang.
func TestUnreadableToken(t *testing.T) {
	if !hungfs.InNamespace(t) {
		return
	}
	hung, _, free := hungfs.Mount(t, false)
	f := judgeAPI(hung, config.API{Port: 8080, TokenFile: filepath.Join(hung, "token")})
	if !strings.Contains(f.Detail, "does not respond") {
		t.Errorf("%+v", f)
	}
	free()
}
