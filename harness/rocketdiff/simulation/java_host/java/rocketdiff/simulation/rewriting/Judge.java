package rocketdiff.simulation.rewriting;

/** Decides about each call of a release's class: as it is, replaced, or refused when reached. */
final class Judge {
    private final Rules rules;
    private final Hierarchy hierarchy;

    Judge(Rules rules, Hierarchy hierarchy) {
        this.rules = rules;
        this.hierarchy = hierarchy;
    }

    /** The stand that replaces a call; null where none does. */
    Rules.Stand stand(boolean isStatic, String owner, String name, String descriptor) {
        if (!rules.mentions(name) || owner.charAt(0) == '[') {
            return null;
        }
        for (String type : hierarchy.lineage(owner)) {
            Rules.Stand stand = rules.of(isStatic, type, name, descriptor);
            if (stand != null) {
                return stand;
            }
        }
        return null;
    }

    /** Whether a call that nothing replaces must not run. */
    boolean isRefused(String owner, String name, String descriptor) {
        return Suspects.isSuspect(owner, name, descriptor);
    }
}
