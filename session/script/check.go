package script

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"gcity/session"
)

// Check implements session.Checker.
func (p *Provider) Check(ctx context.Context) error {
	if err := executable(p.o.Script); err != nil {
		return err
	}
	_, _, err := p.call(ctx, "list-running", "gcity-check-", nil, nil)
	return err
}

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return session.Missing(fmt.Errorf("script %s not found: create it, or correct the path",
			path))
	case err != nil:
		return session.Missing(fmt.Errorf("cannot use the session provider's script: %w",
			err))
	case info.IsDir() || unix.Access(path, unix.X_OK) != nil:
		return session.Missing(fmt.Errorf("the session provider's script, %s, is not "+
			"executable: run chmod +x", path))
	}
	return nil
}
