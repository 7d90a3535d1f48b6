package rocketdiff.simulation.standins;

import java.util.Calendar;
import java.util.TimeZone;

/** A calendar of virtual time, in one time zone on every machine. */
@StandsFor(Calendar.class)
public final class CalendarCalls {
    private CalendarCalls() {
    }

    public static Calendar getInstance() {
        Calendar calendar = Calendar.getInstance(TimeZone.getTimeZone("UTC"));
        calendar.setTimeInMillis(SystemCalls.currentTimeMillis());
        return calendar;
    }
}
