package rocketdiff.simulation.rewriting;

import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import rocketdiff.simulation.remoting.NettyRules;
import rocketdiff.simulation.standins.Logs;
import rocketdiff.simulation.standins.Monitors;
import rocketdiff.simulation.standins.Untreated;

/** Rewrites the calls, constructions and monitors of one method. */
final class MethodRewriter extends MethodVisitor {
    private final Judge judge;
    private final String className;
    private final String method;

    MethodRewriter(MethodVisitor next, Judge judge, String className, String method) {
        super(Opcodes.ASM9, next);
        this.judge = judge;
        this.className = className;
        this.method = method;
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
        if (opcode == Opcodes.NEW && NettyRules.NULLED.contains(type)) {
            super.visitInsn(Opcodes.ACONST_NULL);
        } else {
            super.visitTypeInsn(opcode, opcode == Opcodes.NEW ? Substitutes.of(type, className) : Renamed.type(type));
        }
    }

    @Override
    public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
        super.visitFieldInsn(opcode, owner, name, Renamed.descriptor(descriptor));
    }

    @Override
    public void visitFrame(int type, int locals, Object[] local, int depth, Object[] stack) {
        super.visitFrame(type, locals, Renamed.values(local), depth, Renamed.values(stack));
    }

    @Override
    public void visitMethodInsn(int opcode, String type, String name, String original, boolean isInterface) {
        String owner = Renamed.type(type);
        String descriptor = Renamed.descriptor(original);
        if (opcode == Opcodes.INVOKESPECIAL) {
            special(owner, name, descriptor, isInterface);
            return;
        }
        if (opcode == Opcodes.INVOKESTATIC && makesLogger(owner, descriptor)) {
            silentLogger(descriptor);
            return;
        }
        Rules.Stand stand = judge.stand(opcode == Opcodes.INVOKESTATIC, owner, name, descriptor);
        if (stand != null) {
            super.visitMethodInsn(Opcodes.INVOKESTATIC, stand.owner, stand.name, stand.descriptor, false);
            fit(Type.getReturnType(stand.descriptor), Type.getReturnType(descriptor));
            return;
        }
        refuseSuspect(owner, name, descriptor);
        super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
    }

    /** The type of a stand's result is Object where our code cannot name it. */
    private void fit(Type given, Type wanted) {
        if (!given.equals(wanted) && wanted.getSort() == Type.OBJECT) {
            super.visitTypeInsn(Opcodes.CHECKCAST, wanted.getInternalName());
        }
    }

    /** Constructors and calls of the superclass: of a substitute where the class has one. */
    private void special(String owner, String name, String descriptor, boolean isInterface) {
        if (name.equals("<init>") && NettyRules.NULLED.contains(owner)) {
            pop(descriptor);
            super.visitInsn(Opcodes.POP);
            return;
        }
        String substitute = Substitutes.of(owner, className);
        if (substitute.equals(owner)) {
            refuseSuspect(owner, name, descriptor);
        }
        super.visitMethodInsn(Opcodes.INVOKESPECIAL, substitute, name, descriptor, isInterface);
    }

    private void refuseSuspect(String owner, String name, String descriptor) {
        if (judge.isRefused(owner, name, descriptor)) {
            refuse("calls " + owner.replace('/', '.') + "." + name + descriptor);
        }
    }

    /** Throws when reached; whatever follows is left as it is, since it never runs. */
    private void refuse(String what) {
        super.visitLdcInsn(className.replace('/', '.') + "." + method + " " + what);
        String untreated = Type.getInternalName(Untreated.class);
        super.visitMethodInsn(Opcodes.INVOKESTATIC, untreated, "reached", "(Ljava/lang/String;)V", false);
    }

    @Override
    public void visitInsn(int opcode) {
        if (opcode == Opcodes.MONITORENTER || opcode == Opcodes.MONITOREXIT) {
            String call = opcode == Opcodes.MONITORENTER ? "enter" : "exit";
            String monitors = Type.getInternalName(Monitors.class);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, monitors, call, "(Ljava/lang/Object;)V", false);
        } else {
            super.visitInsn(opcode);
        }
    }

    @Override
    public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
        Object[] treated = new Object[arguments.length];
        for (int i = 0; i < arguments.length; i++) {
            treated[i] = arguments[i] instanceof Handle ? treated((Handle) arguments[i]) : arguments[i];
        }
        super.visitInvokeDynamicInsn(name, descriptor, bootstrap, treated);
    }

    /** A method reference, such as System::currentTimeMillis or Thread::new. */
    private Handle treated(Handle handle) {
        String owner = handle.getOwner();
        String name = handle.getName();
        String descriptor = handle.getDesc();
        if (handle.getTag() == Opcodes.H_NEWINVOKESPECIAL) {
            owner = Substitutes.of(owner, className);
            return new Handle(handle.getTag(), owner, name, descriptor, handle.isInterface());
        }
        Rules.Stand stand = judge.stand(handle.getTag() == Opcodes.H_INVOKESTATIC, owner, name, descriptor);
        if (stand != null) {
            return new Handle(Opcodes.H_INVOKESTATIC, stand.owner, stand.name, stand.descriptor, false);
        }
        refuseSuspect(owner, name, descriptor);
        return handle;
    }

    private static boolean makesLogger(String owner, String descriptor) {
        boolean isLogger = descriptor.endsWith("/Logger;") || descriptor.endsWith("/InternalLogger;");
        return isLogger && (owner.startsWith("org/apache/rocketmq/") || owner.startsWith("org/slf4j/"));
    }

    private void silentLogger(String descriptor) {
        pop(descriptor);
        Type logger = Type.getReturnType(descriptor);
        super.visitLdcInsn(logger);
        String logs = Type.getInternalName(Logs.class);
        super.visitMethodInsn(Opcodes.INVOKESTATIC, logs, "silent", "(Ljava/lang/Class;)Ljava/lang/Object;", false);
        super.visitTypeInsn(Opcodes.CHECKCAST, logger.getInternalName());
    }

    private void pop(String descriptor) {
        Type[] arguments = Type.getArgumentTypes(descriptor);
        for (int i = arguments.length - 1; i >= 0; i--) {
            super.visitInsn(arguments[i].getSize() == 2 ? Opcodes.POP2 : Opcodes.POP);
        }
    }

    @Override
    public void visitMaxs(int maxStack, int maxLocals) {
        super.visitMaxs(maxStack + 1, maxLocals);
    }
}
