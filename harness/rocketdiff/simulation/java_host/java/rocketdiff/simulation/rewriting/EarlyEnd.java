package rocketdiff.simulation.rewriting;

import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import rocketdiff.simulation.standins.Reduced;

/** A constructor that returns after its superclass's, field initialisers undone, where Reduced says so. */
final class EarlyEnd extends MethodVisitor {
    private final String owner;
    private final String descriptor;
    private boolean placed;

    EarlyEnd(MethodVisitor next, String owner, String descriptor) {
        super(Opcodes.ASM9, next);
        this.owner = owner;
        this.descriptor = descriptor;
    }

    @Override
    public void visitMethodInsn(int opcode, String type, String name, String arguments, boolean isInterface) {
        super.visitMethodInsn(opcode, type, name, arguments, isInterface);
        if (!placed && name.equals("<init>") && type.endsWith("NettyRemotingAbstract")) {
            placed = true;
            Label goOn = new Label();
            super.visitMethodInsn(Opcodes.INVOKESTATIC, Type.getInternalName(Reduced.class), "remoting", "()Z", false);
            super.visitJumpInsn(Opcodes.IFEQ, goOn);
            super.visitInsn(Opcodes.RETURN);
            super.visitLabel(goOn);
            Frames.visit(mv, 0, owner, descriptor);
        }
    }

    @Override
    public void visitMaxs(int maxStack, int maxLocals) {
        super.visitMaxs(Math.max(maxStack, 1), maxLocals);
    }
}
