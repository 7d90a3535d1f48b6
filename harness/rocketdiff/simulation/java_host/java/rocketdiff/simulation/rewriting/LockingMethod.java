package rocketdiff.simulation.rewriting;

import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import rocketdiff.simulation.standins.Monitors;

/** A `synchronized` method, whose flag is gone and whose body takes a virtual monitor. */
final class LockingMethod extends MethodVisitor {
    private static final String MONITORS = Type.getInternalName(Monitors.class);

    private final int access;
    private final String owner;
    private final String descriptor;
    private final Label begin = new Label();
    private final Label end = new Label();

    LockingMethod(MethodVisitor next, int access, String owner, String descriptor) {
        super(Opcodes.ASM9, next);
        this.access = access;
        this.owner = owner;
        this.descriptor = descriptor;
    }

    @Override
    public void visitCode() {
        super.visitCode();
        monitor("enter");
        super.visitLabel(begin);
    }

    @Override
    public void visitInsn(int opcode) {
        if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
            monitor("exit");
        }
        super.visitInsn(opcode);
    }

    @Override
    public void visitMaxs(int maxStack, int maxLocals) {
        super.visitLabel(end);
        super.visitTryCatchBlock(begin, end, end, null);
        Frames.visit(mv, access, owner, descriptor, "java/lang/Throwable");
        monitor("exit");
        super.visitInsn(Opcodes.ATHROW);
        super.visitMaxs(maxStack + 2, maxLocals);
    }

    private void monitor(String call) {
        if ((access & Opcodes.ACC_STATIC) == 0) {
            super.visitVarInsn(Opcodes.ALOAD, 0);
        } else {
            super.visitLdcInsn(Type.getObjectType(owner));
        }
        super.visitMethodInsn(Opcodes.INVOKESTATIC, MONITORS, call, "(Ljava/lang/Object;)V", false);
    }
}
