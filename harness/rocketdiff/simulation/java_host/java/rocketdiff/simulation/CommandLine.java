package rocketdiff.simulation;

/** A command as one line, with the script (its last member, where it has one) apart. */
final class CommandLine {
    /** A quote inside a string is escaped, so that this can only be the member's name. */
    private static final String MEMBER = "\"script\":";

    /** The command as JSON, without the script. */
    final String head;
    /** The script as JSON; null where there is none. */
    final String script;

    CommandLine(String line) {
        int at = line.indexOf(MEMBER);
        if (at < 0) {
            head = line;
            script = null;
        } else {
            head = line.substring(0, at) + MEMBER + "null}";
            script = line.substring(at + MEMBER.length(), line.lastIndexOf('}'));
        }
    }
}
