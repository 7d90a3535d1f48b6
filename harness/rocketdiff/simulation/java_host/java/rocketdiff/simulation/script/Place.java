package rocketdiff.simulation.script;

/** Which step a line answers: its number, its entry of a timeline (at), its repetition (n); -1: there is none. */
final class Place {
    private final int step;
    private final int at;
    private final int n;

    private Place(int step, int at, int n) {
        this.step = step;
        this.at = at;
        this.n = n;
    }

    static Place step(int step) {
        return new Place(step, -1, -1);
    }

    Place entry(int number) {
        return new Place(step, number, n);
    }

    Place repetition(int number) {
        return new Place(step, at, number);
    }

    void append(StringBuilder out) {
        out.append("\"step\": ").append(step).append(", ");
        if (at >= 0) {
            out.append("\"at\": ").append(at).append(", ");
        }
        if (n >= 0) {
            out.append("\"n\": ").append(n).append(", ");
        }
    }
}
