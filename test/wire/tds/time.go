package tds

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// The days from which types of time count.
var (
	firstDay  = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	oldestDay = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
)

const day = 24 * time.Hour

// clock is the shortest time that a scale knows.
func clock(scale byte) time.Duration {
	return time.Duration(math.Pow10(9 - int(scale)))
}

// since returns the whole days from one day to a time, and the rest.
func since(from, t time.Time) (days int64, rest time.Duration) {
	seconds := t.Unix() - from.Unix()
	const perDay = int64(day / time.Second)
	days = seconds / perDay
	if seconds%perDay < 0 {
		days--
	}
	return days, time.Duration(seconds-days*perDay)*time.Second + time.Duration(t.Nanosecond())
}

// time encodes a point in time: of datetimeoffset the instant, of the others what
// a clock and a calendar in its location show.
func (t sqlType) time(v time.Time) ([]byte, error) {
	year, month, dayOfMonth := v.Date()
	wall := time.Date(year, month, dayOfMonth, v.Hour(), v.Minute(), v.Second(), v.Nanosecond(), time.UTC)
	if t.token == tokenDateTimeOffset {
		wall = v.UTC()
	}
	if wall.Year() < 1 || wall.Year() > 9999 {
		return nil, fmt.Errorf("the year %d is not one of SQL Server", wall.Year())
	}
	days, rest := since(firstDay, wall)
	date := binary.LittleEndian.AppendUint32(nil, uint32(days))[:3]
	ticks := binary.LittleEndian.AppendUint64(nil, uint64(rest/clock(t.scale)))[:clockSize(t.scale)]
	switch t.token {
	case tokenDate:
		return date, nil
	case tokenTime:
		return ticks, nil
	case tokenDateTime2:
		return append(ticks, date...), nil
	case tokenDateTimeOffset:
		_, east := v.Zone()
		if east%60 != 0 {
			return nil, fmt.Errorf("%v is not whole minutes from UTC", v)
		}
		return binary.LittleEndian.AppendUint16(append(ticks, date...), uint16(int16(east/60))), nil
	case tokenDateTime:
		return t.old(wall)
	}
	return nil, nil
}

// old encodes datetime, which counts in 1/300 of a second, and smalldatetime,
// which counts minutes.
func (t sqlType) old(wall time.Time) ([]byte, error) {
	if t.size == 4 {
		days, rest := since(oldestDay, wall.Round(time.Minute))
		if days < 0 || days > math.MaxUint16 {
			return nil, fmt.Errorf("%v is no smalldatetime", wall)
		}
		return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, uint16(days)), uint16(rest/time.Minute)), nil
	}
	if wall.Year() < 1753 {
		return nil, fmt.Errorf("%v is no datetime", wall)
	}
	days, rest := since(oldestDay, wall)
	ticks := (int64(rest)*300 + int64(time.Second)/2) / int64(time.Second)
	const perDay = 300 * int64(day/time.Second)
	days, ticks = days+ticks/perDay, ticks%perDay
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(days)), uint32(ticks)), nil
}

// decodeTime is the reverse of time.
func (t sqlType) decodeTime(b []byte) (any, error) {
	var days int
	var rest time.Duration
	from, zone := firstDay, time.UTC
	if t.token == tokenDateTime {
		from = oldestDay
		days, rest = t.decodeOld(b)
	} else {
		if t.token != tokenDate {
			size := clockSize(t.scale)
			rest = time.Duration(number64(b[:size])) * clock(t.scale)
			b = b[size:]
		}
		if t.token != tokenTime {
			days = int(number64(b[:3]))
			b = b[3:]
		}
	}
	if t.token == tokenDateTimeOffset {
		east := int(int16(number64(b)))
		if max(east, -east) > 14*60 {
			return nil, fmt.Errorf("a time is %d minutes from UTC", east)
		}
		zone = time.FixedZone("", east*60)
	}
	v := from.AddDate(0, 0, days).Add(rest)
	if rest >= day || v.Year() > 9999 || t.token == tokenDateTime && v.Year() < 1753 {
		return nil, fmt.Errorf("no time is %d days and %v after %s", days, rest, from.Format(time.DateOnly))
	}
	return v.In(zone), nil
}

func (t sqlType) decodeOld(b []byte) (days int, rest time.Duration) {
	if t.size == 4 {
		return int(number64(b[:2])), time.Duration(number64(b[2:])) * time.Minute
	}
	return int(int32(number64(b[:4]))), time.Duration(number64(b[4:])) * time.Second / 300
}
