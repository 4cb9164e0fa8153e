package offline

import "time"

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
