package rocketdiff.simulation.rewriting;

import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** Stack maps at places where the locals are the method's own arguments. */
final class Frames {
    private Frames() {
    }

    /** Number of local slots that this and the arguments take. */
    static int size(int access, String descriptor) {
        int self = (access & Opcodes.ACC_STATIC) == 0 ? 0 : -1;
        return (Type.getArgumentsAndReturnSizes(descriptor) >> 2) + self;
    }

    /** The frame of a method's beginning, with these values on the stack. */
    static void visit(MethodVisitor method, int access, String owner, String descriptor, Object... stack) {
        List<Object> locals = new ArrayList<>();
        if ((access & Opcodes.ACC_STATIC) == 0) {
            locals.add(owner);
        }
        for (Type argument : Type.getArgumentTypes(descriptor)) {
            locals.add(verified(argument));
        }
        method.visitFrame(Opcodes.F_FULL, locals.size(), locals.toArray(), stack.length, stack);
    }

    private static Object verified(Type type) {
        switch (type.getSort()) {
            case Type.LONG:
                return Opcodes.LONG;
            case Type.DOUBLE:
                return Opcodes.DOUBLE;
            case Type.FLOAT:
                return Opcodes.FLOAT;
            case Type.ARRAY:
                return type.getDescriptor();
            case Type.OBJECT:
                return type.getInternalName();
            default:
                return Opcodes.INTEGER;
        }
    }
}
