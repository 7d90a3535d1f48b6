package rocketdiff.simulation.rewriting;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Rewrites one class of a release for virtual time. */
final class ClassRewriter extends ClassVisitor {
    private final Judge judge;
    private String name;

    private ClassRewriter(ClassVisitor next, Judge judge) {
        super(Opcodes.ASM9, next);
        this.judge = judge;
    }

    static byte[] rewritten(byte[] bytes, Judge judge) {
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(new ClassRewriter(writer, judge), 0);
        return writer.toByteArray();
    }

    @Override
    public void visit(int version, int access, String name, String signature, String parent, String[] interfaces) {
        this.name = name;
        super.visit(version, access, name, signature, parent == null ? null : Substitutes.of(parent, name), interfaces);
    }

    @Override
    public FieldVisitor visitField(int access, String field, String descriptor, String signature, Object value) {
        return super.visitField(access, field, Renamed.descriptor(descriptor), signature, value);
    }

    @Override
    public MethodVisitor visitMethod(int access, String method, String original, String signature, String[] thrown) {
        String descriptor = Renamed.descriptor(original);
        boolean locks = (access & Opcodes.ACC_SYNCHRONIZED) != 0 && (access & Opcodes.ACC_NATIVE) == 0;
        int free = locks ? access & ~Opcodes.ACC_SYNCHRONIZED : access;
        MethodVisitor next = super.visitMethod(free, method, descriptor, signature, thrown);
        if (Reductions.isEmptied(name, method, descriptor)) {
            empty(next, access, descriptor);
            return null;
        }
        if ((access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) != 0) {
            return next;
        }
        MethodVisitor inner = locks ? new LockingMethod(next, access, name, descriptor) : next;
        if (Reductions.mayEndEarly(name, method)) {
            inner = new EarlyEnd(inner, name, descriptor);
        }
        return new MethodRewriter(inner, judge, name, method);
    }

    private static void empty(MethodVisitor method, int access, String descriptor) {
        method.visitCode();
        method.visitInsn(Opcodes.RETURN);
        method.visitMaxs(0, Frames.size(access, descriptor));
        method.visitEnd();
    }
}
