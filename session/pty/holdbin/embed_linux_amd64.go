//go:build holder

package holdbin

import _ "embed"

//go:embed gcity-hold-linux-amd64
var image []byte
